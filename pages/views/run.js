// Draws trace/2 (lanewise run): when each step of a plan ran, and what was busy.
{
  const { section, facts, legend, table, time, rate, bytes, percent, rounded, choice, coloursOf, holds } = lanewise;
  const { grouped, plural, isThere, spaced, modeWords } = lanewise;
  const { kMostRows, duration, mechanismOf, rateBetween, textOf } = lanewise.steps;
  const { timeline } = lanewise;
  const { loadSection, resourceSection, engineSection } = lanewise.runLoad;

  // ---------------------------------------------------------------------------------- one moment
  const drawMoment = (root, state) => {
    d3.select(root).selectAll("*").remove();
    const now = state.shown.filter((step) => step.start_us <= state.moment && state.moment < step.end_us);
    const ended = state.shown.filter((step) => step.end_us <= state.moment).length;
    facts(root, [["at", time(state.moment) || "0"], ["steps under way", grouped(now.length)], ["ended", grouped(ended)],
      ["not begun", grouped(state.shown.length - ended - now.length)],
      ["total rate", rate(d3.sum(now, rateBetween))]]);
    if (now.length === 0) return;
    const longest = now.sort((a, b) => duration(b) - duration(a)).slice(0, 10);
    table(root, [
      { name: "step", value: (step) => step.order + 1 }, { name: "transfer", value: (step) => step.transfer },
      { name: "from", value: (step) => step.from }, { name: "to", value: (step) => step.to },
      { name: "mechanism", value: mechanismOf },
      { name: "takes", value: duration, text: (step) => time(duration(step)) },
      { name: "done", value: (step) => (state.moment - step.start_us) / duration(step),
        text: (step) => percent((state.moment - step.start_us) / duration(step), 0) },
      { name: "rate", value: (step) => step.bandwidth_GBps, text: (step) => rate(step.bandwidth_GBps) },
    ], longest, { filter: false, caption: now.length > 10 ? "The ten longest of them" : undefined });
  };

  // A slider over the time of the run, and buttons to the next start or end of a step.
  const momentControls = (root, state, changed) => {
    const bar = d3.select(root).append("p").attr("class", "no-print");
    const beside = (direction) => {
      const times = d3.merge(state.shown.map((step) => [step.start_us, step.end_us]));
      const beyond = times.filter((at) => (at - state.moment) * direction > 1e-9 * state.end);
      if (beyond.length > 0) changed(direction > 0 ? d3.min(beyond) : d3.max(beyond));
    };
    bar.append("button").attr("type", "button").text("event before").on("click", () => beside(-1));
    const label = bar.append("label").style("margin", "0 .6rem");
    label.append("span").text("time ");
    const slider = label.append("input").attr("type", "range").attr("min", 0).attr("max", 1000).attr("step", 1)
      .style("width", "min(40rem, 50vw)").style("vertical-align", "middle").style("padding", 0)
      .property("value", (1000 * state.moment) / state.end)
      .on("input", function () { changed((this.value / 1000) * state.end, true); });
    bar.append("button").attr("type", "button").text("next event").on("click", () => beside(1));
    return slider;
  };

  // ---------------------------------------------------------------------------------- all steps
  const stepTable = (root, state) => {
    d3.select(root).selectAll("*").remove();
    const has = (key) => state.all.some((step) => isThere(step[key]));
    const optional = (key, column) => (has(key) ? [column] : []);
    table(root, [
      { name: "step", value: (step) => step.order + 1, text: (step) => grouped(step.order + 1) },
      { name: "transfer", value: (step) => step.transfer },
      ...optional("from", { name: "from", value: (step) => step.from }),
      ...optional("to", { name: "to", value: (step) => step.to }),
      ...optional("mechanism", { name: "mechanism", value: mechanismOf }),
      ...optional("phase", { name: "phase", value: (step) => step.phase }),
      { name: "start", value: (step) => step.start_us, text: (step) => time(step.start_us) },
      { name: "end", value: (step) => step.end_us, text: (step) => time(step.end_us) },
      { name: "takes", value: duration, text: (step) => time(duration(step)) },
      ...optional("duration_interval_us", { name: "90 % range", value: (step) => (step.duration_interval_us || [])[0],
        text: (step) => (step.duration_interval_us || []).map(time).join(" to ") }),
      ...optional("spread", { name: "spread", value: (step) => step.spread,
      text: (step) => (isThere(step.spread) ? percent(step.spread) : "") }),
      { name: "size", value: (step) => step.bytes, text: (step) => bytes(step.bytes) },
      ...optional("offset", { name: "offset", value: (step) => step.offset,
      text: (step) => (isThere(step.offset) ? bytes(step.offset) : "") }),
      { name: "rate", value: (step) => step.bandwidth_GBps, text: (step) => rate(step.bandwidth_GBps) },
      ...optional("verified", { name: "verified",
      value: (step) => (step.verified ? "yes" : isThere(step.verified) ? "NO" : "") }),
    ], state.shown, { filter: false, most: kMostRows });
  };

  // ---------------------------------------------------------------------------------- the page of a run
  const runFacts = (root, result) => {
    const made = section(root, `Run on ${result.machine}, ${modeWords[result.mode] || result.mode}`,
      Object.entries(result.environment || {}).map(([key, value]) => `${key}: ${value}`).join("; "));
    const pairs = [["makespan", time(result.makespan_us)]];
    if (result.makespan_interval_us) pairs.push(["90 % range", result.makespan_interval_us.map(time).join(" to ")]);
    if (isThere(result.makespan_spread)) pairs.push(["spread of repetitions", percent(result.makespan_spread)]);
    if (result.makespan_noise_us) pairs.push(["noise of the median", result.makespan_noise_us.map(time).join(" to ")]);
    if (isThere(result.bound_us))
      pairs.push(["lower bound", time(result.bound_us)], ["gap to the bound", percent(result.gap)]);
    if (isThere(result.bus_bandwidth_GBps)) pairs.push(["bus bandwidth", rate(result.bus_bandwidth_GBps)]);
    if (isThere(result.best_us))
      pairs.push(["best plan", time(result.best_us)],
        ["this run / best plan", rounded(result.makespan_us / result.best_us)]);
    if (result.library) {
      const { library, algorithm, protocol, channels } = result.library;
      pairs.push(["library", library], ["algorithm",
        `${algorithm} ${protocol}, ${plural(channels, "channel", "channels")}`]);
    } else if (result.algorithm) pairs.push(["algorithm", spaced(result.algorithm)]);
    pairs.push(["steps", grouped(result.steps.length)]);
    facts(made.node(), pairs);
    const shares = (result.binding || []).map((part) => `${part.name} (${percent(part.share, 0)})`);
    if (shares.length > 0) made.append("p").text(`What decides the lower bound: ${shares.join(", ")}.`);
    const wrong = result.steps.filter((step) => step.verified === false);
    if (wrong.length > 0)
      made.append("p").style("color", "var(--bad)").style("font-weight", 600)
        .text(`${plural(wrong.length, "step", "steps")} arrived wrong: `
          + `${wrong.slice(0, 5).map((step) => step.transfer).join(", ")}.`);
    if (result.library && (result.library.remarks || []).length > 0)
      made.append("ul").selectAll("li").data(result.library.remarks).enter().append("li").text((remark) => remark);
    if ((result.collectives || []).length > 1)
      table(made.node(), [{ name: "collective", value: (one) => one.id }, { name: "operation", value: (one) => one.op },
        { name: "size", value: (one) => one.bytes, text: (one) => bytes(one.bytes) },
        { name: "algorithm", value: (one) => one.algorithm }], result.collectives);
  };

  const colourings = { mechanism: mechanismOf, phase: (step) => step.phase || "none", transfer: (step) => step.transfer,
    node: (step) => ((step.from || "").includes("/") ? step.from.replace(/\/.*/, "") : "") };

  const stateOf = (result) => {
    const all = result.steps.slice().sort((a, b) => a.start_us - b.start_us || a.end_us - b.end_us);
    all.forEach((step, i) => { step.order = i; });
    const isCollective = all.some((step) => step.phase)
      || (all.length > 1 && new Set(all.map((step) => step.transfer)).size === 1);
    const end = d3.max(all, (step) => step.end_us) || result.makespan_us || 1;
    const hasWords = (wordOf) => new Set(all.map(wordOf)).size > 1;
    return { all, shown: all, end, rows: isCollective && all.some((step) => step.from) ? "from" : "transfer",
      colour: !hasWords(mechanismOf) && hasWords(colourings.phase) ? "phase" : "mechanism", colours: null,
      moment: end / 2 };
  };

  const stepControls = (root, state, changed) => {
    const controls = d3.select(root).append("p").attr("class", "no-print");
    const hasEnds = state.all.some((step) => step.from);
    const hasEngines = state.all.some((step) => step.engines);
    const rows = (hasEnds ? ["from", "to", "transfer"] : ["transfer"]).concat(hasEngines ? ["engine"] : [])
      .map((value) => ({ value, text: timeline.rowKinds[value].text }));
    choice(controls.node(), "rows by", rows, state.rows, (value) => { state.rows = value; changed(); });
    const distinct = (key) => new Set(state.all.slice(0, 20000).map(colourings[key])).size;
    const usable = Object.keys(colourings)
      .filter((key) => key === "mechanism" || (distinct(key) > 1 && distinct(key) < 20));
    choice(controls.node(), "colour by", usable.map((value) => ({ value, text: value })), state.colour,
      (value) => { state.colour = value; changed(); });
    const label = controls.append("label").text("steps that hold ");
    let waiting = 0;
    label.append("input").attr("type", "search").attr("placeholder", "gpu3 > gpu4").on("input", function () {
      const wanted = this.value.toLowerCase();
      clearTimeout(waiting);  // a large run is not drawn anew for every letter
      waiting = setTimeout(() => {
        state.shown = state.all.filter((step) => holds(textOf(step), wanted));
        changed();
      }, 150);
    });
  };

  // `moved` hears of each new moment.
  const timelineSection = (root, state, moved) => {
    const made = section(root, "Timeline of steps",
      "Drag moves, Ctrl or Shift and the wheel zoom, a click takes that moment. With the keyboard: left and right go "
      + "from step to step in order of their start, up and down to the row beside, + and - zoom, 0 shows the "
      + "whole run.");
    stepControls(made.node(), state, () => draw());
    const colours = made.append("div");
    const canvas = made.append("div");
    const moment = section(root, "What is under way at one moment",
      "The total rate adds the steps' mean rates, without copies within one place.");
    let drawn = null;
    let slider = null;
    const now = moment.append("div");
    const stepsMade = section(root, "Steps", "The text above filters this table too.");
    const steps = stepsMade.append("div");
    const changeMoment = (at, isBySlider) => {
      state.moment = Math.max(0, Math.min(state.end, at));
      if (!isBySlider) slider.property("value", (1000 * state.moment) / state.end);
      drawn.showMoment(state.moment);
      drawMoment(now.node(), state);
      moved(state.moment);
    };
    const draw = () => {
      lanewise.hideTip();
      state.colours = coloursOf(state.all, colourings[state.colour]);
      colours.selectAll("*").remove();
      legend(colours.node(), state.colours.entries);
      canvas.selectAll("*").remove();
      drawn = timeline.make(canvas.node(), state, changeMoment);
      if (state.shown.length === 0) canvas.insert("p", "*").text("No step holds this.");
      drawn.addButtons(colours.select(".legend").node());
      drawMoment(now.node(), state);
      stepTable(steps.node(), state);
    };
    slider = momentControls(moment.node(), state, changeMoment);
    now.raise();
    draw();
    return stepsMade;
  };

  lanewise.view("trace/2", (root, result, machine) => {
    runFacts(root, result);
    if (result.steps.length === 0) return;
    const state = stateOf(result);
    let moved = () => {};
    const stepsMade = timelineSection(root, state, (moment) => moved(moment));
    moved = loadSection(root, result, machine, state.moment);
    resourceSection(root, result);
    engineSection(root, state);
    stepsMade.raise();  // the longest comes last
  });
}
