// Why a transfer takes its way (why/1), and why a run takes its time (why_run/1).
// Other views draw a route beside what it was before: lanewise.drawRoute(root, result, {before, onShow}).
(() => {
  const { spaced } = lanewise;
  const wayText = (candidate) => {
    const words = [spaced(candidate.mechanism)];
    if (candidate.drive === "pull") words.push("(pull)");
    if (candidate.relay) words.push(`by ${candidate.relay}`);
    if (candidate.relay_to) words.push(`by ${candidate.relay_to}`);
    if (candidate.staging)
      words.push(`in ${candidate.staging}${candidate.staging_to ? ` and ${candidate.staging_to}` : ""}`);
    if (candidate.nic_from) words.push(`from ${candidate.nic_from} to ${candidate.nic_to}`);
    if (candidate.chunk_bytes) words.push(`in chunks of ${lanewise.bytes(candidate.chunk_bytes)}`);
    return words.join(" ");
  };
  const rangeText = (range) => (range ? `${lanewise.time(range[0])} to ${lanewise.time(range[1])}` : "");
  // Payload over the whole time, which is what a user of the transfer sees; bandwidth_GBps leaves the latency out.
  const rateOf = (candidate, bytes) => (candidate.time_us ? bytes / candidate.time_us / 1000 : undefined);

  // ---------------------------------------------------------------------------------- machine and nodes
  const nodeOf = (name) => (name.includes("/") ? name.slice(0, name.indexOf("/")) : "");
  const nodesOf = (names) => [...new Set(names.map(nodeOf).filter((node) => node))];
  // A server, or those nodes of a cluster that are named. One object updates all drawings.
  const drawNodes = (root, machine, names, options) => {
    if (machine.lanewise !== "cluster-view/1") return lanewise.drawMachine(root, machine, options);
    const drawings = new Map();
    for (const node of nodesOf(names).slice(0, 4)) {
      const kind = machine.machines.find((one) => one.nodes.includes(node));
      if (!kind) continue;
      d3.select(root).append("h3").text(`${node} (${kind.machine.machine})`);
      const onPick = options.onPick && ((box) => options.onPick({ ...box, name: `${node}/${box.name}` }));
      drawings.set(node, lanewise.drawMachine(root, kind.machine, { ...options, onPick, prefix: `${node}/` }));
    }
    const inNode = (name) => name.slice(name.indexOf("/") + 1);
    return {
      update: (changed) => {
        for (const [node, drawing] of drawings)
          drawing.update(lanewise.isThere(changed.picked)
            ? { ...changed, picked: nodeOf(changed.picked) === node ? inNode(changed.picked) : null } : changed);
      },
      box: (name) => drawings.has(nodeOf(name)) ? drawings.get(nodeOf(name)).box(inNode(name)) : undefined,
      focus: (name) => { if (drawings.has(nodeOf(name))) drawings.get(nodeOf(name)).focus(inNode(name)); },
    };
  };
  lanewise.drawNodes = drawNodes;
  lanewise.namesOfRoute = (result) =>
    [].concat(result.from, result.to, ...result.candidates.map((one) => one.route || []));

  // ---------------------------------------------------------------------------------- why/1
  const drawChain = (root, candidate) => {
    const list = d3.select(root).append("ol").attr("aria-label", "the route, hop by hop")
      .style("display", "flex").style("flex-wrap", "wrap").style("list-style", "none").style("padding", 0)
      .style("gap", ".3rem 0");
    const hops = list.selectAll("li").data(candidate.route || []).enter().append("li").style("display", "flex")
        .style("align-items", "center");
    hops.append("span").text((hop) => hop).style("border", "1px solid var(--line)").style("border-radius", "4px")
        .style("padding", ".1rem .5rem")
      .style("background", (hop, i, all) => (i === 0 || i === all.length - 1 ? "var(--panel)" : null))
      .style("font-weight", (hop, i, all) => (i === 0 || i === all.length - 1 ? 600 : null));
    hops.filter((hop, i, all) => i < all.length - 1).append("span").attr("aria-hidden", "true")
      .style("padding", "0 .4rem").text("\u2192");
  };
  // What each rule along a way says; of a refused way the one that refuses it first. `sentences`: why/1's "rules".
  const drawRules = (root, candidate, sentences = {}) => {
    const named = (candidate.rule ? [candidate.rule] : []).concat(candidate.remarks || []);
    if (candidate.reason && !sentences[candidate.rule]) d3.select(root).append("p").text(candidate.reason);
    if (!named.length) {
      if (candidate.legal) d3.select(root).append("p").text("No rule says more of it.");
      return;
    }
    const made = d3.select(root).append("ul").attr("aria-label", "rules along it").selectAll("li").data(named).enter()
      .append("li");
    made.append("b").text((id) => (id === candidate.rule ? `${id} refuses it` : id));
    made.filter((id) => sentences[id]).append("span").text((id) => `: ${sentences[id].sentence} `);
    made.filter((id) => sentences[id]).append("span").attr("class", "note").text((id) => `(${sentences[id].source})`);
  };
  const chosenFacts = (result, candidate) => {
    const pairs = [["way", wayText(candidate)],
      ["time", candidate.time_us === undefined ? "not known" : lanewise.time(candidate.time_us)]];
    if (candidate.time_interval_us) pairs.push(["90 % range", rangeText(candidate.time_interval_us)]);
    if (candidate.time_us) pairs.push(["rate", lanewise.rate(rateOf(candidate, result.bytes))]);
    if (candidate.latency_us !== undefined) pairs.push(["latency", lanewise.time(candidate.latency_us)]);
    if (candidate.binding) pairs.push(["bound by", candidate.binding]);
    if (candidate.once_us) pairs.push(["once, before the first", lanewise.time(candidate.once_us)]);
    if (candidate.rendezvous_from_bytes)
      pairs.push(["rendezvous from", lanewise.bytes(candidate.rendezvous_from_bytes)]);
    return pairs;
  };
  const verdictOf = (row) => (row.chosen ? "chosen" : row.legal ? "legal" : "refused");
  const rulesOf = (row) => row.rule || (row.remarks || []).join(", ");
  const rowsOf = (result) => result.candidates.map((candidate, i) => ({ ...candidate, chosen: i === result.chosen }));
  // What fits beside other things: the rest is said of the way that is looked at.
  const shortTable = (root, result, pick) => lanewise.table(root, [
    { name: "verdict", value: verdictOf },
    { name: "way", value: wayText, wrap: true },
    { name: "time", value: (row) => row.time_us, text: (row) => lanewise.time(row.time_us) },
    { name: "rules and reason", value: (row) => [rulesOf(row), row.reason].filter(Boolean).join(": "), wrap: true },
  ], rowsOf(result), { onRow: pick, filter: false });
  const candidateTable = (root, result, pick) => lanewise.table(root, [
    { name: "verdict", value: verdictOf },
    { name: "way", value: (row) => wayText(row), wrap: true },
    { name: "time", value: (row) => row.time_us, text: (row) => lanewise.time(row.time_us) },
    { name: "90 % range", value: (row) => (row.time_interval_us || [])[0],
      text: (row) => rangeText(row.time_interval_us) },
    { name: "rate", value: (row) => rateOf(row, result.bytes),
      text: (row) => lanewise.rate(rateOf(row, result.bytes)) },
    { name: "latency", value: (row) => row.latency_us, text: (row) => lanewise.time(row.latency_us) },
    { name: "bound by", value: (row) => row.binding },
    { name: "rules", value: rulesOf },
    { name: "reason", value: (row) => row.reason, wrap: true },
  ], rowsOf(result), { onRow: pick });

  // Times side by side, with their ranges, the fastest on top.
  const drawTimes = (root, result, pick, width) => {
    const rows = rowsOf(result).filter((one) => one.time_us)
      .sort((a, b) => a.time_us - b.time_us);
    if (rows.length < 2) return;
    const [left, step] = [Math.min(470, width * 0.45), 26];
    const height = rows.length * step + 34;
    const most = d3.max(rows, (row) => (row.time_interval_us || [0, row.time_us])[1]);
    const across = d3.scaleLinear().domain([0, most]).nice().range([left, width - 90]);
    const picture = lanewise.svg(root, width, height, "times of the legal ways with their 90 % ranges");
    picture.append("g").attr("class", "axis").attr("transform", `translate(0,${height - 26})`)
      .call(d3.axisBottom(across).ticks(width < 1000 ? 3 : 6).tickFormat(lanewise.time));
    const made = picture.selectAll("g.row").data(rows).enter().append("g").attr("class", "row").attr("role", "button")
        .style("cursor", "pointer")
      .attr("transform", (row, i) => `translate(0,${i * step})`);
    const colour = (row) => (row.chosen ? "var(--bad)" : "var(--faint)");
    made.append("rect").attr("width", width).attr("height", step).style("fill", "transparent");
    made.append("text").attr("x", left - 12).attr("y", 17).attr("text-anchor", "end").style("font-weight",
        (row) => (row.chosen ? 700 : null))
      .text((row) => lanewise.fitText.shortened(`${row.chosen ? "chosen: " : ""}${wayText(row)}`, left - 30, 13));
    made.filter((row) => row.time_interval_us).append("line").attr("y1", 13).attr("y2", 13).attr("x1",
        (row) => across(row.time_interval_us[0]))
      .attr("x2", (row) => across(row.time_interval_us[1])).style("stroke", colour).style("stroke-width", 3);
    made.append("circle").attr("cx", (row) => across(row.time_us)).attr("cy", 13)
      .attr("r", (row) => (row.chosen ? 6.5 : 5))
        .style("fill", colour);
    made.append("text").attr("x", (row) => across((row.time_interval_us || [0, row.time_us])[1]) + 9).attr("y", 17)
        .text((row) => lanewise.time(row.time_us));
    lanewise.withTip(made, (row) => `${wayText(row)}\n${lanewise.time(row.time_us)}, `
      + `90 % range ${rangeText(row.time_interval_us)}`)
      .on("click", pick).on("keydown", (row) => { if (d3.event.key === "Enter") pick(row); });
  };
  const writeSummary = (root, result, title) => {
    const summary = lanewise.section(root, title,
      `${lanewise.bytes(result.bytes)}, op ${spaced(result.op)}; distance ${result.distance}`);
    const chosen = chosenOf(result);
    if (chosen) lanewise.facts(summary.node(), chosenFacts(result, chosen));
    else summary.append("p").append("b")
      .text("Nothing is legal: every way is refused, each by the rule beside it below.");
    return summary;
  };
  const chosenOf = (result) => (result.chosen === null ? null : result.candidates[result.chosen]);
  // A refused way has no route: its two ends alone, with a break between them that no link bridges.
  const hopsOf = (result, candidate) => (candidate && candidate.route && candidate.route.length ? candidate.route
    : [result.from, "no route", result.to]);
  // The route of one candidate in words.
  const writeWay = (words, result, candidate, isChosen) => {
    words.selectAll("*").remove();
    words.append("p").attr("class", "note")
        .text((isChosen ? "The chosen way" : candidate.legal ? "A way that was not chosen" : "A way that is refused")
          + `: ${wayText(candidate)}`);
    drawChain(words.node(), candidate);
    drawRules(words.node(), candidate, result.rules);
  };
  // The route of one candidate, in words and in the machine; picking another changes both.
  const routeSection = (root, result, machine) => {
    const section = lanewise.section(root, "Route");
    const words = section.append("div");
    const drawing = machine ? drawNodes(section.node(), machine, lanewise.namesOfRoute(result),
      { route: hopsOf(result, null) }) : null;
    return (candidate, isChosen) => {
      writeWay(words, result, candidate, isChosen);
      if (drawing) drawing.update({ route: hopsOf(result, candidate) });
    };
  };
  const candidatesSection = (root, result, note, show, { width, drawTable }) => {
    const pick = (row) => show(row, row.chosen);
    const times = lanewise.section(root, "All candidates", note);
    drawTimes(times.node(), result, pick, width);
    drawTable(times.node(), result, pick);
  };
  lanewise.view("why/1", (root, result, machine) => {
    writeSummary(root, result, `${result.from} to ${result.to} on ${result.machine}`);
    const show = routeSection(root, result, machine);
    if (chosenOf(result)) show(chosenOf(result), true);
    candidatesSection(root, result, "Choose a row to see its route above.", show,
      { width: 1300, drawTable: candidateTable });
  });

  const timeText = (candidate) => (candidate.time_us === undefined ? "in a time that is not known"
    : `in ${lanewise.time(candidate.time_us)}`);
  const wayAndTime = (candidate) => (candidate ? `${wayText(candidate)}, ${timeText(candidate)}` : "no legal way");
  // What became of a route since before, in a sentence or two.
  lanewise.routeChange = (before, result) => {
    const [was, is] = [chosenOf(before), chosenOf(result)];
    if (!was && !is) return "As before, there is no legal way.";
    const isSameWay = was && is && wayText(was) === wayText(is);
    const ratio = was && is && was.time_us && is.time_us ? is.time_us / was.time_us : null;
    const longer = ratio === null ? "" : lanewise.isChange(ratio)
      ? ` It takes ${lanewise.rounded(ratio)} times as long.` : " It takes as long.";
    const hops = isSameWay && String(was.route) !== String(is.route)
      ? ` It took other hops before: ${(was.route || []).join(", ")}.` : "";
    if (isSameWay && ratio !== null && !lanewise.isChange(ratio)) return `The way and its time are as before.${hops}`;
    if (isSameWay) return `The same way as before; then it was done ${timeText(was)}.${longer}${hops}`;
    return `Before: ${wayAndTime(was)}. Now: ${wayAndTime(is)}.${longer}`;
  };
  // options: {before: what the same pair was before, onShow: (hops) => ... for each way that is looked at, width}
  lanewise.drawRoute = (root, result, options = {}) => {
    const summary = writeSummary(root, result, `${result.from} to ${result.to}`);
    if (options.before) summary.append("p").attr("class", "route-change")
      .text(lanewise.routeChange(options.before, result));
    const words = summary.append("div");
    const show = (candidate, isChosen) => {
      writeWay(words, result, candidate, isChosen);
      if (options.onShow) options.onShow(hopsOf(result, candidate));
    };
    if (chosenOf(result)) show(chosenOf(result), true);
    else if (options.onShow) options.onShow(hopsOf(result, null));
    const isNarrow = options.width < 1000;
    candidatesSection(root, result, "Choose a row to see its route.", show,
      { width: options.width || 1300, drawTable: isNarrow ? shortTable : candidateTable });
  };

  // ---------------------------------------------------------------------------------- why_run/1
  const path = (result) => result.critical_path || [];
  const length = (step) => step.end_us - step.start_us;
  // bars: [{name, share, text, tip}], all to one scale.
  const drawBars = (root, label, bars, most, colour) => {
    const [width, left, step] = [1100, 300, 26];
    const longest = d3.max(bars, (bar) => lanewise.fitText.textWidth(bar.text, 13)) || 0;
    const across = d3.scaleLinear().domain([0, most || 1]).range([0, width - left - longest - 20]);
    const picture = lanewise.svg(root, width, bars.length * step + 4, label);
    const made = picture.selectAll("g").data(bars).enter().append("g")
      .attr("transform", (bar, i) => `translate(0,${i * step})`);
    made.append("text").attr("x", left - 10).attr("y", 17).attr("text-anchor", "end")
        .text((bar) => lanewise.fitText.shortened(bar.name, left - 20, 12.5));
    made.append("rect").attr("x", left).attr("y", 4).attr("height", 18)
      .attr("width", (bar) => Math.max(1, across(Math.max(0, bar.share))))
      .style("fill", (bar) => bar.colour || colour);
    made.append("text").attr("x", (bar) => left + 8 + across(Math.max(0, bar.share))).attr("y", 17)
      .text((bar) => bar.text);
    lanewise.withTip(made, (bar) => bar.tip || `${bar.name}: ${bar.text}`);
  };
  // Time on the critical path, by the resource that slowed the step.
  const slowing = (result) => {
    const total = d3.sum(path(result), length);
    return d3.nest().key((step) => step.slowed_by || "nothing shared: the step alone").entries(path(result))
      .map(({ key, values }) => {
      const time = d3.sum(values, length);
      const lost = d3.sum(values, (step) => Math.max(0, length(step) - step.alone_us));
      return { name: key, share: time / total, isShared: values[0].slowed_by !== undefined,
        text: `${lanewise.percent(time / total)}${lost > 0 ? `, ${lanewise.time(lost)} lost by sharing` : ""}`,
        tip: `${key}\n${values.length} of the steps, ${lanewise.time(time)}; `
          + `alone they take ${lanewise.time(d3.sum(values, (step) => step.alone_us))}` };
    }).sort((a, b) => b.share - a.share);
  };
  const changeText = (ratio) => (Math.abs(ratio - 1) < 0.0005 ? "the same" : ratio < 1
    ? `${lanewise.percent(1 - ratio)} shorter` : `${lanewise.percent(ratio - 1)} longer`);
  const bindingSection = (root, result, machine) => {
    const binding = lanewise.section(root, "What binds the lower bound",
        "The resources whose capacity sets the shortest possible time, by their share in it.");
    if ((result.binding || []).length)
      drawBars(binding.node(), "share of the lower bound by resource", result.binding.map((one) => ({ name: one.name,
          share: one.share, text: lanewise.percent(one.share) })), 1, lanewise.category(0));
    else binding.append("p").text("Nothing on the machine binds it.");
    const together = (result.binding || []).filter((one) => one.share > 0.05);
    if (together.length > 1)
      binding.append("p").text(`These bind it together (${together.map((one) => one.name).join(", ")}): a wider one of `
        + "them alone gains nothing as long as the others are as they are.");
    if (!path(result).length) return;
    const bars = slowing(result);
    const slowed = lanewise.section(root, "What held the critical path",
      "Time of its steps, by the resource that each shared most.");
    drawBars(slowed.node(), "time on the critical path by resource", bars, 1, lanewise.category(5));
    if (!machine) return;
    const load = {};
    for (const bar of bars) if (bar.isShared) load[bar.name] = bar.share;
    for (const one of together) load[one.name] = Math.max(load[one.name] || 0, one.share);
    const names = [...Object.keys(load), ...path(result).map((step) => step.from),
      ...path(result).map((step) => step.to)];
    drawNodes(slowed.node(), machine, names, { load, loadText: "of the critical path's time, or of the lower bound" });
  };
  const widerSection = (root, result) => {
    const section = lanewise.section(root, "What would help", "Each made twice as wide, planned and run again.");
    if (!(result.wider || []).length) {
      section.append("p").text("Nothing on the machine that could be wider holds it.");
      return;
    }
    const gain = (ratio) => Math.max(0, 1 - ratio);
    const most = Math.max(0.05, d3.max(result.wider, (one) => Math.max(gain(one.run_ratio), gain(one.bound_ratio))));
    const bars = [].concat(...result.wider.map((one) => [
      { name: `${one.what}: run`, share: gain(one.run_ratio), text: changeText(one.run_ratio),
        colour: lanewise.category(0) },
      { name: "lower bound", share: gain(one.bound_ratio), text: changeText(one.bound_ratio),
        colour: lanewise.category(1) }]));
    lanewise.legend(section.node(), [{ colour: lanewise.category(0), text: "the run gets shorter by" },
        { colour: lanewise.category(1), text: "its lower bound gets shorter by" }]);
    drawBars(section.node(), "gain from widening each", bars, most, lanewise.category(0));
  };
  const stepText = (step) => (step.from === step.to ? `${step.transfer} on ${step.from}`
    : `${step.transfer} ${step.from} to ${step.to}`);
  const waitedText = (step) => (step.engine ? step.engine : spaced(step.waited_for || "nothing"));
  const pathSection = (root, result) => {
    const steps = path(result);
    if (!steps.length) return;
    const section = lanewise.section(root, "Critical path",
        "Steps that waited for one another from the first to the last. Filled: what the step takes alone; dashed: "
        + "longer, because it shares.");
    const [width, left, step] = [1300, 250, Math.max(8, Math.min(24, 900 / steps.length))];
    const across = d3.scaleLinear().domain([0, d3.max(steps, (one) => one.end_us)]).range([left, width - 30]);
    const height = steps.length * step + 30;
    const picture = lanewise.svg(section.node(), width, height, "critical path over time");
    picture.append("g").attr("class", "axis").attr("transform", `translate(0,${height - 24})`)
      .call(d3.axisBottom(across).ticks(7)
        .tickFormat(lanewise.time));
    const made = picture.selectAll("g.step").data(steps).enter().append("g").attr("class", "step")
      .attr("transform", (one, i) => `translate(0,${i * step})`);
    const alone = (one) => Math.min(one.alone_us, length(one));
    made.append("rect").attr("x", (one) => across(one.start_us)).attr("y", 2).attr("height", step - 4).attr("width",
        (one) => Math.max(1, across(one.end_us) - across(one.start_us)))
      .style("fill", "none").style("stroke", lanewise.category(5)).style("stroke-dasharray", "3 2");
    made.append("rect").attr("x", (one) => across(one.start_us)).attr("y", 2).attr("height", step - 4)
      .attr("width", (one) => Math.max(1, across(one.start_us + alone(one)) - across(one.start_us)))
      .style("fill", lanewise.category(0));
    if (step >= 13) made.append("text").attr("x", left - 10).attr("y", step / 2 + 4).attr("text-anchor", "end")
      .style("font-size", "11px")
      .text((one) => lanewise.fitText.shortened(stepText(one), left - 16, 11.5));
    const took = (one) => `${lanewise.time(one.start_us)} to ${lanewise.time(one.end_us)}; `
      + `alone ${lanewise.time(one.alone_us)}`;
    lanewise.withTip(made, (one) => [stepText(one), took(one), `waited for ${waitedText(one)}`,
      ...(one.slowed_by ? [`slowed by ${one.slowed_by}`] : [])].join("\n"));
    lanewise.table(section.node(), [
      { name: "step", value: (one) => one.step }, { name: "transfer", value: (one) => stepText(one) },
      { name: "waited for", value: (one) => waitedText(one) },
      { name: "start", value: (one) => one.start_us, text: (one) => lanewise.time(one.start_us) || "0 us" },
      { name: "end", value: (one) => one.end_us, text: (one) => lanewise.time(one.end_us) },
      { name: "alone", value: (one) => one.alone_us, text: (one) => lanewise.time(one.alone_us) },
      { name: "times as long", value: (one) => (one.alone_us > 0 ? length(one) / one.alone_us : undefined),
          text: (one) => (one.alone_us > 0 ? (length(one) / one.alone_us).toFixed(2) : "") },
      { name: "slowed by", value: (one) => one.slowed_by }], steps);
  };
  const phaseSection = (root, result) => {
    if (!(result.phases || []).length) return;
    const section = lanewise.section(root, "What was busiest when");
    lanewise.table(section.node(), [
      { name: "from", value: (one) => one.start_us, text: (one) => lanewise.time(one.start_us) },
      { name: "to", value: (one) => one.end_us, text: (one) => lanewise.time(one.end_us) },
      { name: "busiest", value: (one) => one.busiest },
      { name: "kind", value: (one) => (one.kind ? spaced(one.kind) : undefined) },
      { name: "utilisation", value: (one) => one.utilisation,
        text: (one) => (one.busiest ? lanewise.percent(one.utilisation) : "") },
      { name: "moving", value: (one) => one.moving_GBps,
        text: (one) => (one.busiest ? lanewise.rate(one.moving_GBps) : "") },
      { name: "GPUs computing", value: (one) => one.gpus_computing, text: (one) => one.gpus_computing.toFixed(1) }],
      result.phases);
  };
  lanewise.view("why_run/1", (root, result, machine) => {
    const section = lanewise.section(root, `Why the run on ${result.machine} takes so long`);
    const pairs = [["makespan", lanewise.time(result.makespan_us)]];
    if (result.bound_us) pairs.push(["lower bound", lanewise.time(result.bound_us)]);
    if (lanewise.isThere(result.gap)) pairs.push(["above the bound", lanewise.percent(result.gap)]);
    if (result.algorithm) pairs.push(["algorithm", spaced(result.algorithm)]);
    if (result.bus_bandwidth_GBps) pairs.push(["bus bandwidth", lanewise.rate(result.bus_bandwidth_GBps)]);
    pairs.push(["mode", result.mode]);
    lanewise.facts(section.node(), pairs);
    if (result.unordered) section.append("p")
        .text(`The same steps in orders that nobody fixes take ${lanewise.time(result.unordered.mean_us)} in the mean `
      + `(${lanewise.time(result.unordered.fastest_us)} to ${lanewise.time(result.unordered.slowest_us)}); `
      + `the plan's order is ${result.unordered.gain.toFixed(2)} times as fast.`);
    bindingSection(root, result, machine);
    widerSection(root, result);
    pathSection(root, result);
    phaseSection(root, result);
  });
})();
