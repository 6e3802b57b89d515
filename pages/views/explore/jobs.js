// The times of jobs on the page of `lanewise explore`, before and now.
(() => {
  const { isThere, rounded, time, rate } = lanewise;
  const { button } = lanewise.explore;
  const kGrey = "#8c8c8c";
  const rateOf = (job) => (isThere(job.bus_bandwidth_GBps) ? rate(job.bus_bandwidth_GBps)
    : isThere(job.tokens_per_second) ? `${rounded(job.tokens_per_second)} tokens/s` : "");
  const ratioOf = (was, is) => (was && was.time_us && is.time_us ? is.time_us / was.time_us : 1);
  const jobColour = (was, is) => {
    const ratio = ratioOf(was, is);
    return !lanewise.isChange(ratio) ? kGrey : ratio > 1 ? "var(--bad)" : "var(--good)";
  };
  const jobChange = (was, is) => {
    if (!was) return "";
    if (was.failure) return is.failure ? "" : "possible again";
    return is.failure ? "not possible any more" : lanewise.changeText(ratioOf(was, is));
  };
  const fillJobCell = (cell, job, most, colour) => {
    if (!job) return;
    if (job.failure) {
      cell.append("div").attr("class", "problem").text(job.failure);
      return;
    }
    cell.append("div").text(time(job.time_us));
    cell.append("div").attr("class", "job-bar").style("background", colour)
      .style("width", `${(100 * job.time_us) / most}%`);
    cell.append("div").attr("class", "note").text(rateOf(job));
  };
  const drawJobTable = (root, jobs, jobsBefore) => {
    const before = new Map(jobsBefore.map((job) => [job.name, job]));
    const was = (job) => before.get(job.name);
    const most = d3.max([...jobs, ...jobsBefore], (job) => job.time_us) || 1;
    const table = root.append("div").attr("class", "scroll").append("table").attr("id", "jobs");
    table.append("thead").append("tr").selectAll("th").data(["job", "before", "now", "change", "busiest"]).enter()
      .append("th").attr("scope", "col").text((name) => name);
    const rows = table.append("tbody").selectAll("tr").data(jobs).enter().append("tr")
      .attr("data-job", (job) => job.name)
      .attr("data-time-us", (job) => (isThere(job.time_us) ? job.time_us : null))
      .attr("data-before-us", (job) => (was(job) && isThere(was(job).time_us) ? was(job).time_us : null));
    rows.append("th").attr("scope", "row").text((job) => job.name);
    rows.append("td").attr("class", "job-time")
      .each(function (job) { fillJobCell(d3.select(this), was(job), most, kGrey); });
    rows.append("td").attr("class", "job-time")
      .each(function (job) { fillJobCell(d3.select(this), job, most, jobColour(was(job), job)); });
    rows.append("td").attr("class", "number").text((job) => jobChange(was(job), job));
    rows.append("td").attr("class", "wrap").text((job) => job.busiest || "");
    const words = ["Change: times as long as before."];
    if (jobs.some((job) => isThere(job.bus_bandwidth_GBps)))
      words.push("Rates are those of the bus, as NCCL has them.");
    root.append("p").attr("class", "note").text(words.join(" "));
  };

  const drawJobs = (studio, at) => {
    const [jobs, jobsBefore, trouble] = [studio.now.value("jobs"), studio.then.value("jobs") || [],
      studio.now.problem("jobs")];
    const key = JSON.stringify([jobs, jobsBefore, trouble]);
    if (key === at.drawn) return;
    at.drawn = key;
    at.space.selectAll("*").remove();
    if (trouble) at.space.append("p").attr("class", "problem").text(trouble);
    if (jobs) drawJobTable(at.space, jobs, jobsBefore);
  };
  const makeJobs = (root, studio) => {
    const section = root.append("section").attr("class", "jobs");
    const note = section.append("h2").text("Jobs").append("span").attr("class", "note");
    const offer = button(section.node(), "time-jobs", "", () => {
      studio.areJobsAsked = true;
      studio.touch();
    }).property("hidden", true);
    const at = { space: section.append("div"), drawn: "" };
    return {
      draw: () => drawJobs(studio, at),
      // Of what the jobs are that are shown; no words: of now.
      say: (words) => {
        note.text(at.drawn ? words : "");
        section.classed("is-waiting", Boolean(words));
      },
      // Offers to time them; no words: they are timed without that.
      offer: (words) => offer.property("hidden", !words).text(words),
    };
  };

  Object.assign(lanewise.explore, { makeJobs });
})();
