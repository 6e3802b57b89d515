// Draws whatif/1 (what a change of settings does to every pair) and fault_report/1 (what each failure costs).
// Lends lanewise.faultReport to the view of designs.
{
  const { section, facts, legend, table, rounded, rate, time, percent, isThere, byName, changeColour } = lanewise;
  const kBefore = "#8c8c8c";
  const kMostBars = 40;  // more would not be read; the table has all
  const isTime = (change) => change.figure === "latency";
  const alikeText = (count, what) => (count > 1 ? ` and ${count - 1} ${what}` : "");
  const times = (ratio) => `${rounded(ratio)} x`;

  // ---------------------------------------------------------------------------------- a change of settings
  const before = (change) => (isTime(change) ? change.before_us : change.before_GBps);
  const after = (change) => (isTime(change) ? change.after_us : change.after_GBps);
  const pairText = (change) => `${change.from} ${change.figure === "both ways" ? "<>" : ">"} ${change.to}`;
  const figureText = (change, value, mechanism) => {
    if (!isThere(value)) return mechanism ? "unknown" : "no way";
    return isTime(change) ? time(value) : rate(value);
  };
  // How much worse a figure is, as a factor: above 1 is worse. A way that is gone is the worst.
  const harm = (change) => {
    if (change.ratio !== null) return isTime(change) ? change.ratio : 1 / change.ratio;
    return !change.mechanism_after ? Infinity : !change.mechanism_before ? 0 : 1;
  };
  const wayText = (change) => {
    const [was, is] = [change.mechanism_before || "none", change.mechanism_after || "none"];
    return was === is ? is : `${was} \u2192 ${is}`;
  };
  const ratioText = (change) => {
    if (change.ratio !== null) return times(change.ratio);
    return !change.mechanism_after ? "gone" : !change.mechanism_before ? "new" : "";
  };

  const changeFacts = (result) => {
    const list = [["pairs compared", String(result.pairs)]];
    for (const [end, name] of [["worse", "worst"], ["better", "best"]]) {
      const found = result.changes.filter((change) => (end === "worse" ? harm(change) > 1 : harm(change) < 1));
      const count = d3.sum(found, (change) => change.pairs);
      list.push([`figures of pairs that become ${end}`, String(count)]);
      if (count === 0) continue;
      const most = found[d3.scan(found, (a, b) => (end === "worse" ? harm(b) - harm(a) : harm(a) - harm(b)) || 0)];
      list.push([`${name}: ${most.figure}, ${pairText(most)}`, ratioText(most)]);
    }
    return list;
  };

  const pairedBars = (root, figure, changes) => {
    const shown = changes.slice(0, kMostBars);
    const rows = shown.map((change) => {
      const isWorse = harm(change) > 1;
      const verdict = isWorse ? "worse" : harm(change) < 1 ? "better" : "other way";
      const note = `${ratioText(change)}, ${verdict}: ${change.because}`;
      const name = pairText(change) + alikeText(change.pairs, "more");
      const [was, is] = [before(change), after(change)];
      return { name, note, bars: [
        { value: was, text: figureText(change, was, change.mechanism_before), colour: kBefore, isHollow: was === null },
        { value: is, text: figureText(change, is, change.mechanism_after), isHollow: is === null,
          colour: isWorse ? "var(--bad)" : "var(--good)" }],
      tip: `${name}\n${change.figure}: ${figureText(change, was, change.mechanism_before)} before, `
          + `${figureText(change, is, change.mechanism_after)} after (${ratioText(change)})\n`
          + `way: ${wayText(change)}\n${change.because}` };
    });
    const made = section(root, `${figure[0].toUpperCase()}${figure.slice(1)} before and after`,
      shown.length < changes.length ? `The ${kMostBars} worst of ${changes.length} changes; the table has all.` : null);
    legend(made.node(), [{ colour: kBefore, text: "before" }, { colour: "var(--bad)", text: "after, worse" },
      { colour: "var(--good)", text: "after, better" }]);
    lanewise.bars(made.node(), { rows, label: `${figure} before and after the change`,
      tick: figure === "latency" ? time : rate });
  };

  // Pairs that change alike are given by one of them. Only where each stands alone it is known where all are.
  const ratioMap = (root, figure, changes) => {
    if (changes.length < 2 || changes.some((change) => change.pairs !== 1)) return;
    const names = [...new Set(d3.merge(changes.map((change) => [change.from, change.to])))].sort(byName);
    const found = new Map();
    for (const change of changes) {
      found.set(`${change.from}>${change.to}`, change);
      if (figure === "both ways") found.set(`${change.to}>${change.from}`, change);
    }
    const at = (row, column) => found.get(`${names[row]}>${names[column]}`);
    const finite = changes.map(harm).filter((factor) => factor > 0 && factor < Infinity);
    const most = Math.max(1.1, d3.max(finite.map((factor) => Math.max(factor, 1 / factor))) || 1);
    const made = section(root,
      `Ratio of the ${figure === "both ways" ? "bandwidth both ways" : figure} of each pair, after over before`,
      "From row to column. An empty cell does not change.");
    legend(made.node(), [{ colour: changeColour(most, most), text: `worse, up to ${times(most)}` },
      { colour: changeColour(1 / most, most), text: `better, up to ${times(most)}` },
        { colour: "#000", text: "no way any more" }]);
    lanewise.heatMap(made.node(), { names, label: `ratio of ${figure}, after over before`,
      cell: (row, column) => {
        const change = at(row, column);
        if (!change) return { text: "" };
        const colour = harm(change) === Infinity ? "#000000" : changeColour(Math.max(1e-9, harm(change)), most);
        return { colour, text: ratioText(change) };
      },
      tip: (row, column) => {
        const change = at(row, column);
        const name = `${names[row]} > ${names[column]}`;
        return change ? `${name}\n${figure}: ${ratioText(change)}\nway: ${wayText(change)}\n${change.because}`
          : `${name}\nno change`;
      } });
  };

  const matrixSection = (root, { before: was, after: is }) => {
    const isAlike = (cell, i) => cell.mechanism === was.cells[i].mechanism
      && !lanewise.isChange((cell.time_us || 1) / (was.cells[i].time_us || 1));
    const made = section(root, "Every pair of GPUs, before and now",
      `${lanewise.bytes(is.bytes)} one way, each pair alone.`);
    if (is.cells.every(isAlike)) made.append("p").text("No pair changes so; see both ways and latency above.");
    else lanewise.drawMatrix(made.node(), is, { before: was, side: "change" });
  };

  lanewise.view("whatif/1", (root, result) => {
    const made = section(root, `${result.machine} with ${result.settings.join(", ")}`, result.changes.length === 0
      ? `Nothing changes for any of ${result.pairs} pairs.`
      : "Pairs that change alike stand together, by one of them.");
    facts(made.node(), changeFacts(result));
    if (result.changes.length === 0) return;
    const sorted = result.changes.slice().sort((a, b) => d3.descending(harm(a), harm(b)));
    const figures = [...new Set(sorted.map((change) => change.figure))];
    const of = (figure) => sorted.filter((change) => change.figure === figure);
    for (const figure of figures) pairedBars(root, figure, of(figure));
    // The matrix of GPUs has all of their pairs; a map of ratios only those that stand alone.
    if (result.matrices) matrixSection(root, result.matrices);
    for (const figure of figures.filter((one) => one !== "bandwidth" || !result.matrices))
      ratioMap(root, figure, of(figure));
    table(section(root, "Changes").node(), [
      { name: "pair", value: pairText },
      { name: "pairs alike", value: (change) => change.pairs },
      { name: "figure", value: (change) => change.figure },
      { name: "before", value: before, text: (change) => figureText(change, before(change), change.mechanism_before) },
      { name: "after", value: after, text: (change) => figureText(change, after(change), change.mechanism_after) },
      { name: "ratio", value: (change) => (change.ratio === null ? undefined : change.ratio), text: ratioText },
      { name: "worse by", value: harm, text: (change) => (Number.isFinite(harm(change)) && harm(change) > 0
        ? times(harm(change)) : ratioText(change)) },
      { name: "way", value: wayText },
      { name: "because", value: (change) => change.because, wrap: true },
    ], sorted);
  });

  // ---------------------------------------------------------------------------------- what a failure costs
  const costsNothing = (loss) => !loss.impossible && Math.abs(loss.kept - 1) < 0.0005;
  const lossName = (loss) => loss.what + alikeText(loss.alike, "alike");
  const failures = (losses) => d3.sum(losses, (loss) => loss.alike);

  const lossTip = (loss) => [lossName(loss), `score that is left: ${percent(loss.kept)}`,
    ...Object.entries(loss.ratios)
      .map(([job, ratio]) => `${job}: ${ratio === null ? "impossible" : `${times(ratio)} the time`}`),
    ...(loss.impossible ? [loss.impossible] : []), `setting: ${loss.settings.join(", ")}`].join("\n");

  const lossBars = (root, losses) => {
    const holder = d3.select(root).append("div");
    const draw = (most) => {
      holder.selectAll("*").remove();
      const rows = losses.slice(0, most).map((loss) => ({ name: lossName(loss), tip: lossTip(loss),
        bars: [{ value: loss.kept, text: loss.impossible ? "impossible" : percent(loss.kept), colour: loss.impossible
          ? "var(--bad)" : "var(--good)",
          isHollow: Boolean(loss.impossible) }],
        note: loss.impossible }));
      lanewise.bars(holder.node(), { rows, label: "score that each failure leaves, worst first", longestName: 80,
        high: Math.max(1, d3.max(losses, (loss) => loss.kept)), tick: (share) => percent(share, 0),
        lines: [{ at: 1, text: "the score without a failure" }] });
      if (most >= losses.length) return;
      holder.append("button").attr("type", "button").attr("class", "no-print").text(`show all ${losses.length}`)
        .on("click", () => draw(losses.length));
    };
    draw(kMostBars);
  };

  const ratioColumn = (job) => ({ name: job, value: (loss) => (loss.ratios[job] === null ? Infinity : loss.ratios[job]),
    text: (loss) => (loss.ratios[job] === null ? "impossible" : times(loss.ratios[job])) });

  // Draws a fault report into an element: facts, what each failure leaves, the time of each job over that without it.
  lanewise.faultReport = (root, report) => {
    const losses = report.losses.slice().sort((a, b) => a.kept - b.kept);
    const costly = losses.filter((loss) => !costsNothing(loss));
    const impossible = losses.filter((loss) => loss.impossible);
    const list = [["failures", `${failures(losses)}, ${report.failures_at_once === 2 ? "two" : "one"} at a time`],
      ["resilience: score left in the mean", percent(report.resilience)],
      ["score left at worst", percent(report.worst)],
      ["failures that cost these jobs nothing", String(failures(losses) - failures(costly))]];
    if (impossible.length > 0) list.push(["failures with which a job is impossible", String(failures(impossible))]);
    facts(root, list);
    d3.select(root).append("p").attr("class", "note")
      .text("What each failure leaves of the score, worst first. 100 % is the speed without a failure; hollow: a job "
        + "is impossible. Jobs of all GPUs run on those that are left: with fewer of them a job may take less time, and "
        + "does less. Of parts that are alike, also in other nodes, one stands for all.");
    if (costly.length > 0) lossBars(root, costly);
    const jobs = Object.keys(losses.length > 0 ? losses[0].ratios : {});
    const columns = [{ name: "failure", value: (loss) => loss.what }, { name: "alike", value: (loss) => loss.alike },
      { name: "score that is left", value: (loss) => loss.kept, text: (loss) => percent(loss.kept) },
      ...jobs.map(ratioColumn)];
    if (impossible.length > 0) columns.push({ name: "impossible", value: (loss) => loss.impossible, wrap: true });
    d3.select(root).append("p").attr("class", "note").text("Time of each job with the failure, over its time without:");
    table(root, columns, losses);
  };

  lanewise.view("fault_report/1", (root, result) => {
    const made = section(root, `What a failure costs${result.machine ? ` on ${result.machine}` : ""}`);
    lanewise.faultReport(made.node(), result);
  });
}
