// The page of `lanewise explore` (explore/1): changes of a machine, and what they do to every pair, a route and jobs.
// It asks the server that it came from. That keeps nothing of a page: each request says all, and the latest one counts.
(() => {
  const { isThere, rounded, time, rate } = lanewise;
  const kPause = 300;  // ms without a key until a text is evaluated
  const kLongJobTime = 3000;  // ms
  const kLargePlaces = 512;
  const kMostOtherClasses = 24;
  const kColumn = 880;  // a drawing of a machine that is so wide can be read in a column of the page

  // ---------------------------------------------------------------------------------- settings
  // "off@gpu3" alone means true, as it does on the command line.
  const parsedSetting = (text) => {
    const at = text.indexOf("=");
    return at < 0 ? [text.trim(), "true"] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  };
  const settingText = ([key, value]) => `${key}=${value}`;
  // What resets others goes first: a new part its link, acs=... all of acs@NAME. nvlink=off makes way for other parts.
  const rankOf = (key) => (key === "nvlink" ? 0 : key.startsWith("part@") ? 1 : key.includes("@") ? 3 : 2);
  const inOrder = (settings) => [...settings].sort((a, b) => rankOf(a[0]) - rankOf(b[0])).map(settingText);

  // ---------------------------------------------------------------------------------- the server
  const token = new URLSearchParams(location.search).get("token") || "";
  const stopped = "lanewise explore was stopped; start it again";
  class ServerError extends Error {}
  class Overtaken extends Error {}
  let evaluation = null;  // the request under way, which a newer state overtakes
  const overtake = () => { if (evaluation) evaluation.abort(); };
  const send = async (path, request) => {
    const control = new AbortController();
    if (path === "/evaluate") evaluation = control;
    let response;
    let answer;
    try {
      response = await fetch(`${path}?token=${encodeURIComponent(token)}`, { method: "POST", signal: control.signal,
        headers: { "Content-Type": "application/json" }, body: JSON.stringify(request) });
      answer = await response.json();
    } catch (error) {
      if (control.signal.aborted) throw new Overtaken();
      throw new ServerError(stopped);
    } finally {
      if (evaluation === control) evaluation = null;
    }
    if (response.status === 503) throw new Overtaken("another page asked this server meanwhile; one page at a time");
    if (!response.ok) throw new ServerError(answer.error || `the server answers with status ${response.status}`);
    return answer;
  };
  // One request at a time, in the order in which they are made.
  let lastRequest = Promise.resolve();
  const ask = (path, request) => {
    const answer = lastRequest.then(() => send(path, request));
    lastRequest = answer.catch(() => {});
    return answer;
  };

  // ---------------------------------------------------------------------------------- answers
  // What each part of an answer depends on. A part is asked for again only where that changed.
  const dependsOn = {
    machine: (question) => [question.file, question.text, question.settings],
    matrix: (question) => [question.file, question.text, question.settings, question.bytes],
    route: (question) => [question.file, question.text, question.settings, question.bytes, question.from, question.to],
    jobs: (question) => [question.file, question.text, question.settings, question.bytes, question.library],
    faults: (question) => [question.file, question.text, question.settings],
  };
  const keyOf = (part, question) => JSON.stringify(dependsOn[part](question));
  // Parts of answers to one question, each with the key of what it depends on: {machine: {key, value, problem}, ...}
  class Answers {
    constructor() { this.parts = {}; }
    value(part) { return this.parts[part] && this.parts[part].value; }
    problem(part) { return this.parts[part] && this.parts[part].problem; }
    has(part, question) { return Boolean(this.parts[part]) && this.parts[part].key === keyOf(part, question); }
    // Asks for what is missing; takes from `other` what that knows. Returns the errors of the text, if it has any.
    async bring(parts, question, other) {
      for (const part of parts)
        if (!this.has(part, question) && other && other.has(part, question)) this.parts[part] = other.parts[part];
      const want = parts.filter((part) => !this.has(part, question));
      if (want.length === 0) return null;
      const answer = await ask("/evaluate", { ...question, want });
      const wrong = answer.errors.filter((error) => error.of === "text");
      if (wrong.length) return wrong;
      this.places = answer.places;
      this.settingErrors = answer.errors.filter((error) => error.of === "setting");
      for (const part of want) {
        const problem = answer.errors.filter((error) => error.of === part).map((error) => error.message).join("\n");
        this.parts[part] = { key: keyOf(part, question), value: answer[part], problem };
      }
      return null;
    }
  }

  // ---------------------------------------------------------------------------------- pieces of the page
  const control = (root, label, tag, id) => {
    const holder = d3.select(root).append("label").attr("class", "control no-print");
    holder.append("span").text(label);
    return holder.append(tag).attr("id", id);
  };
  const button = (root, id, text, onClick) => d3.select(root).append("button").attr("type", "button").attr("id", id)
    .attr("class", "no-print").text(text).on("click", onClick);
  const fillOptions = (list, options) => {
    list.selectAll("option").remove();
    list.selectAll("option").data(options).enter().append("option").attr("value", (one) => one.value)
      .text((one) => one.text);
    return list;
  };
  // Shows a value in a list, also one that the list does not offer.
  const show = (list, value, text) => {
    const isOffered = [...list.node().options].some((option) => option.value === value);
    if (!isOffered) list.append("option").attr("value", value).text(text || value);
    list.property("value", value);
  };
  const kAsFile = "as the file has it";

  // ---------------------------------------------------------------------------------- jobs
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

  // ---------------------------------------------------------------------------------- the drawing
  // A network that is narrow need not be drawn as small as one that is wide.
  const cropToContent = (picture) => {
    const { x, width } = picture.getBBox();
    const { y, height } = picture.viewBox.baseVal;
    picture.setAttribute("viewBox", `${x - 4} ${y} ${width + 8} ${height}`);
    picture.setAttribute("width", width + 8);
  };
  // The network and the kinds of nodes; what the view of a cluster has besides is folded.
  const drawCluster = (root, cluster) => {
    lanewise.drawResult(root, cluster);
    const [network, ...others] = root.children;
    network.querySelector("h2").remove();
    cropToContent(network.querySelector("svg"));
    const more = d3.select(root).append("details");
    more.append("summary").text("Every kind of node, and notes");
    for (const one of others) more.node().append(one);
    // A node's box opens its kind, which is in there.
    const unfold = () => {
      more.node().open = true;
      more.node().scrollIntoView({ block: "nearest" });
    };
    d3.select(network).selectAll(".box[role=button]").on("click.unfold", unfold)
      .on("keydown.unfold", () => { if (d3.event.key === "Enter") unfold(); });
  };

  // Every link up to a limit: "gen5 x16" allows gen1 to gen5 and 1 to 16 lanes.
  const linksUpTo = (limit) => {
    const [, most, widest] = /gen(\d+) x(\d+)/.exec(limit || "") || [null, 6, 16];
    return d3.cross(d3.range(Number(most), 0, -1), [16, 8, 4, 2, 1].filter((lanes) => lanes <= Number(widest)))
      .map(([generation, lanes]) => `gen${generation} x${lanes}`);
  };
  // What can be chosen at a box: [{id, label, key of the setting, what the file has, values}]
  const choicesAt = (name, box, parts, linkLimit) => {
    const isDevice = box.row !== undefined || box.kind === "switch";
    const found = [];
    if (isDevice) found.push({ id: "box-link", label: "link", key: `link@${name}`, present: box.entry.link,
      values: linksUpTo(linkLimit) });
    if (parts) found.push({ id: "box-part", label: "part", key: `part@${name}`, present: box.part, values: parts });
    if (isDevice || box.kind === "root_port") found.push({ id: "box-acs", label: "ACS at this port",
      key: `acs@${name}`, present: box.entry.acs, values: ["on", "off"] });
    return found;
  };
  const canFail = (box) => box.row !== undefined || box.kind === "switch" || box.kind === "nvswitch";

  // ---------------------------------------------------------------------------------- the file
  // A text with numbers beside its lines, and the errors in it. `onText` hears of it when no key was pressed for a
  // moment; `onKey` hears of each.
  const makeEditor = (root, onText, onKey) => {
    const holder = d3.select(root).append("div").attr("class", "editor no-print");
    const gutter = holder.append("div").attr("class", "gutter").attr("aria-hidden", "true");
    const area = holder.append("textarea").attr("id", "file-text").attr("spellcheck", "false").attr("wrap", "off")
      .attr("autocomplete", "off").attr("aria-label", "the machine's file").attr("aria-describedby", "file-errors");
    const list = d3.select(root).append("ul").attr("id", "file-errors").attr("class", "errors").attr("role", "status");
    let errors = [];
    let fileName = "";
    const text = () => area.property("value");
    const isHere = (error) => isThere(error.line) && (!error.file || error.file === fileName);
    const drawGutter = () => {
      const marked = new Set(errors.filter(isHere).map((error) => error.line));
      const lines = gutter.selectAll("span").data(d3.range(1, text().split("\n").length + 1));
      lines.exit().remove();
      lines.enter().append("span").text((line) => line).merge(lines).classed("wrong", (line) => marked.has(line));
      gutter.node().scrollTop = area.node().scrollTop;
    };
    const goTo = (error) => {
      const lines = text().split("\n");
      const start = d3.sum(lines.slice(0, error.line - 1), (line) => line.length + 1);
      const at = Math.min(text().length, start + Math.max(0, (error.column || 1) - 1));
      area.node().focus();
      area.node().setSelectionRange(at, at);
      area.node().scrollTop = Math.max(0, (error.line - 6) * (area.node().scrollHeight / lines.length));
    };
    let pause = 0;
    const flush = () => {
      clearTimeout(pause);
      onText(text());
    };
    area.on("input", () => {
      drawGutter();
      onKey();
      clearTimeout(pause);
      pause = setTimeout(flush, kPause);
    }).on("scroll", () => { gutter.node().scrollTop = area.node().scrollTop; });
    const put = (words) => {
      clearTimeout(pause);
      area.property("value", words).property("scrollTop", 0);
      drawGutter();
    };
    const showErrors = (found, file) => {
      errors = found;
      fileName = file;
      area.attr("aria-invalid", errors.length ? "true" : null);
      list.selectAll("li").remove();
      const made = list.selectAll("li").data(errors).enter().append("li");
      const words = (error) => {
        const place = isThere(error.line) ? `${error.line}:${error.column} ` : "";
        return `${place && !isHere(error) ? `${error.file}:` : ""}${place}${error.message}`;
      };
      made.filter(isHere).append("button").attr("type", "button").text(words).on("click", goTo);
      made.filter((error) => !isHere(error)).text(words);
      drawGutter();
    };
    return { text, put, flush, showErrors };
  };

  lanewise.view("explore/1", (root, start) => {
    const state = { name: "", file: "", text: "", savedText: "", settings: new Map(), bytes: "256 MiB",
      library: "best", from: "", to: "" };
    let opened = { text: "", settings: [] };  // undone to
    let before = null;  // {question, words}
    let now = new Answers();
    let then = new Answers();
    let isTextWrong = false;
    let answered = 0;
    const page = d3.select(root).append("div").attr("class", "explore");

    // -------------------------------------------------------------------------------- questions
    const questionOf = () => ({ file: state.file, text: state.text, settings: inOrder(state.settings),
      bytes: state.bytes, library: state.library, from: state.from, to: state.to });
    // Before is asked the same of: of another size, or another pair, it could not be compared.
    const questionBefore = (question) => ({ ...before.question, bytes: question.bytes, from: question.from,
      to: question.to });
    let isBehind = false;
    let isFollowing = false;
    // Answers the state as it is now; a change while it is on its way makes it begin anew.
    const follow = async () => {
      isBehind = true;
      if (isFollowing) {
        overtake();
        return;
      }
      isFollowing = true;
      while (isBehind) {
        isBehind = false;
        try {
          await answer();
        } catch (error) {
          if (error instanceof Overtaken && isBehind) continue;
          isFollowing = error instanceof ServerError || error instanceof Overtaken;
          if (!isFollowing) throw error;  // of this page: its console says where
          sayJobs("");
          sayAnswer("");
          sayOld("What was tried has no answer.");
          sayProblem(error.message);
        }
      }
      isFollowing = false;
    };
    const millisecondsSince = (begun) => Math.max(1, Math.round(performance.now() - begun));
    const answer = async () => {
      if (!state.file) return;
      const begun = performance.now();
      let question = questionOf();
      const first = ["machine", "matrix"].concat(state.from ? ["route"] : []);
      const wrong = await now.bring(first, question, then);
      if (isBehind) return;
      showTextErrors(wrong);
      if (wrong) return finish("");
      if (!state.from) {
        chooseEnds();
        question = questionOf();
        await now.bring(["route"], question, then);
        if (isBehind) return;
      }
      drawAll();
      if (!now.has("jobs", question)) sayJobs(" of what was tried last; those of now come");
      const took = `answered in ${millisecondsSince(begun)} ms`;
      sayAnswer(took);
      const wrongBefore = await then.bring(["matrix", "route"], questionBefore(question), now);
      if (isBehind) return;
      if (wrongBefore) {
        setBefore(`${state.name} as it could first be read`);
        showControls();
        await then.bring(["matrix", "route"], questionBefore(question), now);
      }
      await bringOtherClasses(questionBefore(question));
      if (isBehind) return;
      drawAll();
      const areTimed = await answerJobs(question);
      if (isBehind) return;
      const withJobs = `${took}, jobs in ${millisecondsSince(begun)} ms`;
      await bringFaults();
      if (isBehind) return;
      finish(areTimed ? withJobs : took);
    };
    // Jobs of a large cluster take seconds: there they are timed only when that is asked for. Returns whether they are
    // timed.
    let jobTime = 0;  // ms
    let areJobsAsked = false;
    const answerJobs = async (question) => {
      const isKnown = now.has("jobs", question) || then.has("jobs", question);
      const isLarge = ((now.value("matrix") || {}).number_of_places || 0) > kLargePlaces;
      const isOffered = !isKnown && !areJobsAsked && (isLarge || jobTime > kLongJobTime);
      jobOffer.property("hidden", !isOffered).text(jobTime > 0
        ? `time the jobs (took ${time(1e3 * jobTime)} last)` : "time the jobs of this large cluster");
      if (isOffered) {
        sayJobs(" of what was tried last");
        return false;
      }
      const begun = performance.now();
      await now.bring(["jobs"], question, then);
      areJobsAsked = false;
      if (!isKnown) jobTime = performance.now() - begun;
      if (isBehind) return false;
      sayJobs("");
      drawAll();
      await then.bring(["jobs"], questionBefore(question), now);
      if (!isBehind) drawAll();
      return true;
    };
    // A class of pairs is called by one of them, and a change may divide classes. What such a pair was before, its
    // route says: few classes are new at once.
    const bringOtherClasses = async (question) => {
      const [is, was] = [now.value("matrix"), then.value("matrix")];
      if (!is || !was || !is.classes || !was.classes) return;
      was.alsoKnown = was.alsoKnown || [];
      const known = new Set([...was.classes, ...was.alsoKnown].map((entry) => `${entry.from}>${entry.to}`));
      const missing = is.classes.filter((entry) => entry.from !== entry.to && !known.has(`${entry.from}>${entry.to}`));
      for (const { from, to } of missing.slice(0, kMostOtherClasses)) {
        const one = new Answers();
        await one.bring(["route"], { ...question, from, to });
        if (isBehind) return;
        const route = one.value("route");
        const chosen = route && route.chosen !== null ? route.candidates[route.chosen] : null;
        if (!route) continue;
        if (!chosen) was.alsoKnown.push({ from, to, mechanism: null });
        else was.alsoKnown.push({ from, to, mechanism: chosen.mechanism, time_us: chosen.time_us,
          time_interval_us: chosen.time_interval_us,
          bandwidth_GBps: chosen.time_us ? route.bytes / chosen.time_us / 1000 : undefined });
      }
    };
    const finish = (words) => {
      sayAnswer(words);
      document.documentElement.dataset.answered = String(++answered);
    };
    // Only the text and its parts say what can fail. A failure that is tried takes none out of the list.
    const faults = new Answers();
    const bringFaults = async () => {
      const question = { ...questionOf(), settings: inOrder(state.settings).filter((one) => one.startsWith("part@")) };
      if (faults.has("faults", question)) return;
      await faults.bring(["faults"], question);
      fillFaults(faults.value("faults") || []);
    };
    const chooseEnds = () => {
      const places = now.places || [];
      if (places.length < 2) return;
      const nodeOf = (name) => name.slice(0, name.lastIndexOf("/") + 1);
      const { cells, classes } = now.value("matrix") || {};
      state.from = places[0];
      // GPUs come first, memories last. NICs do not send to NICs.
      state.to = (cells || classes || []).length === 0 ? places[places.length - 1]
        : places.find((name) => nodeOf(name) !== nodeOf(places[0])) || places[1];
    };

    // -------------------------------------------------------------------------------- what is tried
    const tried = page.append("section").attr("class", "tried");
    tried.append("h2").text("What is tried");
    const controls = tried.append("div").attr("class", "control-row").node();
    const machineChoice = control(controls, "machine", "select", "machine-choice");
    const groups = () => {
      const names = new Set(start.opened.map((one) => one.name));
      const others = (list) => list.filter((name) => !names.has(name));
      return [["opened", [...names]], ["files of this folder", others(start.files)],
        ["machines", others(start.machines)], ["clusters", others(start.clusters)]].filter(([, list]) => list.length);
    };
    const fillMachines = () => {
      machineChoice.selectAll("*").remove();
      machineChoice.append("option").attr("value", "").text("choose a machine");
      machineChoice.selectAll("optgroup").data(groups()).enter().append("optgroup").attr("label", ([label]) => label)
        .selectAll("option").data(([, list]) => list).enter().append("option").attr("value", (name) => name)
        .text((name) => name);
      machineChoice.property("value", state.name);
    };
    const size = control(controls, "message size", "input", "size").attr("size", 8).property("value", state.bytes);
    const library = fillOptions(control(controls, "library", "select", "library"),
      ["best", "nccl", "rccl", "mpi", "oneshot"].map((name) => ({ value: name, text: name })));
    const settingChoice = (id, key, label, values) => {
      const list = fillOptions(control(controls, label, "select", id),
        [{ value: "", text: kAsFile }, ...values.map((value) => ({ value, text: value }))]);
      list.on("change", function () { change(key, this.value); });
      return { key, list };
    };
    const settingChoices = [settingChoice("acs", "acs", "ACS", ["on", "off"]),
      settingChoice("iommu", "iommu", "IOMMU", ["off", "pt", "lazy", "strict", "vfio", "translated"])];
    const fail = control(controls, "let fail", "select", "fail");
    const setting = control(controls, "any setting", "input", "setting").attr("size", 18)
      .attr("placeholder", "link@gpu3=gen3 x8").attr("title", "Enter adds it");
    const chips = tried.append("ul").attr("class", "chips").attr("aria-label", "changes in force");
    const tools = tried.append("p").attr("class", "tools").node();
    button(tools, "undo-changes", "undo all changes", () => {
      state.settings = new Map(opened.settings.map(parsedSetting));
      touch();
    });
    button(tools, "compare-now", "compare with this from now on", () => compareWithNow());
    const beforeWords = d3.select(tools).append("span").attr("id", "before");
    const answerWords = tried.append("p").attr("class", "note").attr("id", "answer").attr("role", "status");
    const problem = tried.append("p").attr("class", "problem").attr("id", "problem").attr("role", "alert");

    const sayAnswer = (words) => answerWords.text(words);
    const sayProblem = (words) => {
      problem.text(words);
      size.attr("aria-invalid", / size/.test(words) ? "true" : null);
    };
    // A new value of a setting replaces the old one and is the last that is made; an empty one takes it away.
    const set = (key, value) => {
      state.settings.delete(key);
      if (value) state.settings.set(key, value);
    };
    const change = (key, value) => { set(key, value); touch(); };
    // After any change of the state.
    const touch = () => {
      sayProblem("");
      showControls();
      follow();
    };
    const fillFaults = (list) => {
      fillOptions(fail, [{ value: "", text: "choose a part" }, ...list.map((fault, i) =>
        ({ value: String(i), text: fault.what }))]);
      fail.on("change", function () {
        const fault = list[Number(this.value)];
        if (!this.value || !fault) return;
        for (const one of fault.settings) set(...parsedSetting(one));
        touch();
        this.value = "";
      });
    };
    fillFaults([]);
    const drawChips = () => {
      const hadFocus = chips.node().contains(document.activeElement);
      chips.selectAll("li").remove();
      const made = chips.selectAll("li").data([...state.settings]).enter().append("li");
      made.append("span").text(settingText);
      made.append("button").attr("type", "button").attr("class", "no-print").text("\u00d7")
        .attr("aria-label", (one) => `take ${settingText(one)} back`).on("click", ([key]) => change(key, ""));
      made.append("span").attr("class", "problem");
      showSettingErrors();
      if (!hadFocus) return;
      const next = chips.select("button");
      (next.empty() ? setting : next).node().focus();
    };
    const showSettingErrors = () => {
      const errors = new Map((now.settingErrors || []).map((error) => [error.setting, error.message]));
      chips.selectAll("li").select(".problem").text((one) => {
        const text = settingText(one);
        const message = errors.get(text) || "";
        const said = `--set ${text}: `;  // the chip says this part already
        return message.startsWith(said) ? message.slice(said.length) : message;
      });
    };
    const showControls = () => {
      show(machineChoice, state.name);
      show(library, state.library);
      if (document.activeElement !== size.node()) size.property("value", state.bytes);
      for (const { key, list } of settingChoices) show(list, state.settings.get(key) || "");
      if (!before) beforeWords.text("");
      else beforeWords.text(`Before: ${before.words}.`);
      drawChips();
      fillPlaces();
    };
    machineChoice.on("change", function () { if (this.value) openUnlessUnsaved(this.value); });
    size.on("change", function () { state.bytes = this.value.trim(); touch(); });
    library.on("change", function () { state.library = this.value; touch(); });
    setting.on("keydown", function () {
      if (d3.event.key !== "Enter" || !this.value.trim()) return;
      const [key, value] = parsedSetting(this.value);
      this.value = "";
      change(key, value);
    });

    // -------------------------------------------------------------------------------- opening
    const lossOffer = tried.insert("p", ".chips").attr("id", "loss");
    const openUnlessUnsaved = (name) => {
      lossOffer.text("");
      if (!isUnsaved()) return open(name);
      machineChoice.property("value", state.name);
      lossOffer.append("span").text("The text below is not saved. ");
      button(lossOffer.node(), "lose-text", `open ${name} and lose it`, () => { lossOffer.text(""); open(name); });
    };
    const open = async (name) => {
      try {
        const found = await ask("/open", { name });
        opened = { text: found.text, settings: found.settings };
        Object.assign(state, { name, file: found.file, text: found.text, savedText: found.text, from: "", to: "",
          settings: new Map(found.settings.map(parsedSetting)) });
        [now, then] = [new Answers(), new Answers()];
        [jobTime, areJobsAsked] = [0, false];
        picked = null;
        linkLimits.clear();
        editor.put(found.text);
        fileName.property("value", start.files.includes(name) ? name : `${name.replace(/[^\w.-]+/g, "-")}.yaml`);
        setBefore(found.settings.length ? `${name} as it was opened, with ${found.settings.join(", ")}`
          : `${name} as it was opened`);
        saySaved("");
        touch();
      } catch (error) {
        showControls();
        sayProblem(error.message);
      }
    };

    // -------------------------------------------------------------------------------- before
    const setBefore = (words) => {
      const { file, text, settings, library } = questionOf();
      before = { question: { file, text, settings, library }, words };
    };
    const compareWithNow = () => {
      if (!before) return;
      if (isTextWrong) return sayProblem("The text cannot be read: first mend it, then compare with it.");
      const changes = inOrder(state.settings);
      const words = [changes.length ? `${state.name} with ${changes.join(", ")}` : `${state.name} without changes`];
      if (state.text !== opened.text) words.push("with the text that was below then");
      if (state.library !== "best") words.push(`library ${state.library}`);
      setBefore(words.join(", "));
      touch();
    };

    // -------------------------------------------------------------------------------- the drawing and its panel
    const results = page.append("div").attr("class", "results");
    const oldNote = results.append("p").attr("class", "problem").attr("id", "old-results").property("hidden", true);
    // What is shown stays, marked as older than what was tried; no words: it is of now.
    const sayOld = (words) => {
      const isEmpty = !drawnMachine;
      results.classed("is-old", Boolean(words)).classed("is-empty", isEmpty);
      oldNote.property("hidden", !words).text(words && !isEmpty ? `${words} This is what was found last.` : words);
    };
    const upper = results.append("div").attr("class", "beside upper");
    const machineSection = upper.append("section").attr("class", "machine");
    const machineTitle = machineSection.append("h2").text("Machine");
    const machineSpace = machineSection.append("div").attr("class", "machine-space");
    const panel = machineSection.append("div").attr("class", "panel").attr("id", "panel").property("hidden", true);
    let drawing = null;
    let drawnMachine = "";
    let picked = null;  // the name of a box
    const linkLimits = new Map();  // of boxes: their links before the page made others

    const pick = (name, isByKey) => {
      picked = name;
      if (drawing) drawing.update({ picked: name });
      drawPanel();
      const first = panel.select(".control-row select, .control-row button").node() || panel.select("button").node();
      if (isByKey && first) first.focus();
    };
    const closePanel = () => {
      const name = picked;
      pick(null);
      lanewise.hideTip();
      if (drawing && name) drawing.focus(name);
    };
    const drawMachine = () => {
      const machine = now.value("machine");
      if (!machine) return;
      const route = now.value("route");
      const isCluster = machine.lanewise === "cluster-view/1";
      const names = route ? lanewise.namesOfRoute(route) : [state.from, state.to];
      const nodes = isCluster ? [...new Set(names.map((name) => name.split("/")[0]))] : [];
      const key = JSON.stringify([machine, nodes]);
      if (key === drawnMachine) return;
      drawnMachine = key;
      const hadFocus = machineSpace.node().contains(document.activeElement);
      lanewise.hideTip();
      machineTitle.text(machine.title || machine.machine || machine.cluster);
      machineSpace.selectAll("*").remove();
      if (isCluster) drawCluster(machineSpace.append("div").node(), machine);
      drawing = lanewise.drawNodes(machineSpace.node(), machine, names, { width: kColumn,
        onPick: (box) => pick(box.name, d3.event.type === "keydown") });
      drawing.update({ picked });
      if (hadFocus && picked) drawing.focus(picked);
      drawPanel();
    };

    let drawnPanel = "";
    const drawPanel = () => {
      const box = picked && drawing ? drawing.box(picked) : undefined;
      // Only where it changes: a list that is unfolded would be folded.
      const key = JSON.stringify([picked, box ? [box.kind, box.entry] : null, [...state.settings], now.places,
        state.from, state.to]);
      if (key === drawnPanel) return;
      drawnPanel = key;
      const focused = panel.node().contains(document.activeElement) ? document.activeElement.id : "";
      panel.selectAll("*").remove();
      panel.property("hidden", !picked);
      if (!picked) return;
      const head = panel.append("div").attr("class", "panel-head");
      head.append("b").text(picked);
      head.append("span").text(!box ? "is not in the machine now" : box.part || "");
      button(head.node(), "panel-close", "\u00d7", closePanel).attr("aria-label", "close");
      const row = panel.append("div").attr("class", "control-row").node();
      if (box && box.entry) drawChoices(row, box);
      const offKey = `off@${picked}`;
      const isOff = state.settings.has(offKey);
      if (isOff || (box && canFail(box)))
        button(row, "box-fail", isOff ? "let it work again" : "let it fail", () => change(offKey, isOff ? "" : "true"));
      if ((now.places || []).includes(picked))
        for (const end of ["from", "to"])
          button(row, `box-${end}`, `route ${end} here`, () => { state[end] = picked; touch(); })
            .attr("aria-pressed", String(state[end] === picked));
      if (row.children.length === 0) panel.append("p").attr("class", "note").text("Nothing of it can be changed here.");
      if (focused) (document.getElementById(focused) || panel.select("button").node()).focus();
    };
    const drawChoices = (row, box) => {
      if (!state.settings.has(`link@${picked}`)) linkLimits.set(picked, box.entry.max || box.entry.link);
      const parts = box.kind === "nvswitch" ? null : start.parts[box.kind];  // no setting replaces one
      for (const one of choicesAt(picked, box, parts, linkLimits.get(picked))) {
        const set = state.settings.get(one.key) || "";
        const list = fillOptions(control(row, one.label, "select", one.id),
          [{ value: "", text: one.present && !set ? `${kAsFile} (${one.present})` : kAsFile },
            ...one.values.map((value) => ({ value, text: value }))]);
        show(list, set);
        list.on("change", function () { change(one.key, this.value); });
      }
    };
    panel.on("keydown", () => { if (d3.event.key === "Escape") closePanel(); });

    // -------------------------------------------------------------------------------- jobs
    const jobSection = upper.append("section").attr("class", "jobs");
    const jobNote = jobSection.append("h2").text("Jobs").append("span").attr("class", "note");
    const jobOffer = button(jobSection.node(), "time-jobs", "", () => {
      areJobsAsked = true;
      touch();
    }).property("hidden", true);
    // Of what the jobs are that are shown; no words: of now.
    const sayJobs = (words) => {
      jobNote.text(drawnJobs ? words : "");
      jobSection.classed("is-waiting", Boolean(words));
    };
    const jobSpace = jobSection.append("div");
    let drawnJobs = "";
    const drawJobs = () => {
      const [jobs, jobsBefore, trouble] = [now.value("jobs"), then.value("jobs") || [], now.problem("jobs")];
      const key = JSON.stringify([jobs, jobsBefore, trouble]);
      if (key === drawnJobs) return;
      drawnJobs = key;
      jobSpace.selectAll("*").remove();
      if (trouble) jobSpace.append("p").attr("class", "problem").text(trouble);
      if (!jobs) return;
      drawJobTable(jobSpace, jobs, jobsBefore);
    };

    // -------------------------------------------------------------------------------- every pair
    const lower = results.append("div").attr("class", "beside lower");
    const matrixSection = lower.append("section").attr("class", "pairs").attr("aria-label", "every pair");
    const matrixProblem = matrixSection.append("p").attr("class", "problem");
    const matrixSpace = matrixSection.append("div");
    let matrix = null;
    let drawnMatrix = "";
    const drawMatrix = () => {
      const [is, was] = [now.value("matrix"), then.value("matrix")];
      const trouble = is && (is.cells || is.classes).length === 0 ? "There are no GPUs, and so no pairs of them."
        : now.problem("matrix");
      const key = JSON.stringify([is, was, trouble]);
      if (key === drawnMatrix) return;
      drawnMatrix = key;
      matrixProblem.text(trouble || "");
      if (trouble || !is) {
        matrixSpace.selectAll("*").remove();
        matrix = null;
      } else if (matrix) matrix.update(is, was || null);
      else matrix = lanewise.drawMatrix(matrixSpace.node(), is, { before: was || null, width: 260,
        onPick: (from, to) => { Object.assign(state, { from, to }); touch(); } });
    };

    // -------------------------------------------------------------------------------- route
    const routeSection = lower.append("section").attr("class", "route");
    const routeControls = routeSection.append("div").attr("class", "control-row").node();
    const ends = {};
    for (const [end, label] of [["from", "route from"], ["to", "to"]])
      ends[end] = control(routeControls, label, "select", `route-${end}`)
        .on("change", function () { state[end] = this.value; touch(); });
    button(routeControls, "turn-route", "turn round", () => {
      [state.from, state.to] = [state.to, state.from];
      touch();
    });
    const routeProblem = routeSection.append("p").attr("class", "problem");
    const routeSpace = routeSection.append("div");
    let drawnPlaces = "";
    const fillPlaces = () => {
      const places = now.places || [];
      const key = places.join(" ");
      for (const end of ["from", "to"]) {
        if (key !== drawnPlaces) fillOptions(ends[end], places.map((name) => ({ value: name, text: name })));
        if (state[end]) show(ends[end], state[end]);
      }
      drawnPlaces = key;
    };
    let drawnRoute = "";
    const drawRoute = () => {
      const [is, was] = [now.value("route"), then.value("route")];
      routeProblem.text(now.problem("route") || "");
      const key = JSON.stringify([is, was, drawnMachine]);
      if (key === drawnRoute) return;
      drawnRoute = key;
      routeSpace.selectAll("*").remove();
      if (!is) {
        if (drawing) drawing.update({ route: null });
        return;
      }
      lanewise.drawRoute(routeSpace.node(), is, { before: was, width: 640,
        onShow: (hops) => { if (drawing) drawing.update({ route: hops }); } });
    };

    const drawAll = () => {
      results.classed("is-empty", false);  // what is hidden cannot be measured
      drawMachine();
      sayOld("");
      drawJobs();
      drawMatrix();
      drawRoute();
      drawPanel();
      fillPlaces();
      showSettingErrors();
      for (const { key, list } of settingChoices) {
        const value = ((now.value("machine") || {}).settings || {})[key];
        if (!state.settings.has(key))
          d3.select(list.node().options[0]).text(value ? `${kAsFile} (${value})` : kAsFile);
      }
    };

    // -------------------------------------------------------------------------------- file
    const file = page.append("details").attr("class", "file").attr("id", "file");
    const fileTitle = file.append("summary").text("File");
    const editor = makeEditor(file.node(), (words) => {
      if (state.text === words) return;
      state.text = words;
      touch();
    }, () => saySaved(""));
    const fileTools = file.append("p").attr("class", "tools no-print").node();
    button(fileTools, "write-changes", "put the changes into the text", () => writeChanges());
    button(fileTools, "text-as-opened", "text as it was opened", () => replaceText(opened.text));
    const fileName = control(fileTools, "save as", "input", "file-name").attr("size", 28);
    button(fileTools, "save", "save", () => save(false));
    const replaceButton = button(fileTools, "replace", "replace it", () => save(true)).property("hidden", true);
    const saved = d3.select(fileTools).append("span").attr("id", "saved").attr("role", "status");

    const showTextErrors = (errors) => {
      const wasWrong = isTextWrong;
      isTextWrong = Boolean(errors);
      editor.showErrors(errors || [], state.file);
      if (isTextWrong) sayOld("The text cannot be read.");
      if (isTextWrong && !wasWrong) file.property("open", true);
    };
    const isUnsaved = () => editor.text() !== state.savedText;
    const showFile = () => fileTitle.text(`File ${state.file}${isUnsaved() ? " (not saved)" : ""}`);
    const saySaved = (words) => {
      saved.text(words);
      replaceButton.property("hidden", true);
      showFile();
    };
    const replaceText = (words) => {
      editor.put(words);
      state.text = words;
      saySaved("");
      touch();
    };
    const sayFileProblem = (message) => { saySaved(""); saved.text(message); };
    const writeChanges = async () => {
      editor.flush();
      const { settings } = questionOf();
      try {
        const answer = await ask("/evaluate", { ...questionOf(), want: ["yaml"] });
        if (!isThere(answer.yaml)) {
          const error = answer.errors.find((one) => one.of === "yaml") || answer.errors[0];
          return sayFileProblem(error ? error.message : "no text was given");
        }
        const wrong = new Set(answer.errors.filter((one) => one.of === "setting").map((one) => one.setting));
        if (String(settings) !== String(inOrder(state.settings))) return;  // changed meanwhile
        state.settings = new Map([...state.settings].filter((one) => wrong.has(settingText(one))));
        opened.settings = [];
        replaceText(answer.yaml);
      } catch (error) {
        sayFileProblem(error.message);
      }
    };
    const save = async (replace) => {
      const [name, words] = [fileName.property("value").trim(), editor.text()];
      saySaved("");
      try {
        const answer = await ask("/save", { file: name, text: words, replace });
        if (answer.exists) {
          saySaved(`${answer.exists} is there already.`);
          replaceButton.property("hidden", false).text(`replace ${answer.exists}`);
          return;
        }
        state.savedText = words;
        if (!start.files.includes(answer.saved)) {
          start.files = [...start.files, answer.saved].sort(lanewise.byName);
          fillMachines();
        }
        const changes = state.settings.size ? " The changes above are not in it." : "";
        saySaved(`Saved ${answer.saved}.${changes}`);
      } catch (error) {
        sayFileProblem(error.message);
      }
    };
    fileName.on("keydown", () => { if (d3.event.key === "Enter") save(false); })
      .on("input", () => saySaved(""));
    addEventListener("beforeunload", (event) => {
      if (!state.file || !isUnsaved()) return;
      event.preventDefault();
      event.returnValue = "";
    });

    fillMachines();
    showControls();
    if (start.opened.length) open(start.opened[0].name);
    else sayAnswer("Choose a machine to begin with.");
  });
})();
