// Draws the result of lanewise workload: what goes between the ranks of a language model, and where a step's time goes.
{
  const { section, facts, legend, table, time, rate, bytes, percent, category, inkOn, grouped, isThere,
    spaced } = lanewise;

  // ---------------------------------------------------------------------------------- words
  const stepNames = { train: "step", prefill: "time to the first token", decode: "time of a token",
    kv_transfer: "transfer" };
  const stepName = (one) => stepNames[(one.mode || "").replace(/[ -]/g, "_")] || "step";
  const countText = (count) => (Number.isInteger(count) ? grouped(count) : count < 1 ? d3.format(".2g")(count)
    : count.toFixed(1));
  const degrees = { tp: "tensor", sp: "sequence", cp: "context", pp: "pipeline", vpp: "virtual stages", dp: "data",
    zero: "ZeRO", ep: "expert" };
  const parallelText = (parallel) => Object.keys(parallel)
    .filter((key) => parallel[key] === true || parallel[key] > (key === "zero" ? 0 : 1))
    .map((key) => (parallel[key] === true ? key : `${key} ${parallel[key]}`)).join(", ") || "none";

  // Parts of the step in one group of ranks share a colour; that of computing and of idling never changes.
  const colours = { computing: category(0), idle: "#c4c4c4" };
  const groupColours = [1, 2, 3, 4, 5, 7].map(category);
  const coloursOfGroups = (patterns) => {
    const groups = [...new Set(patterns.map((pattern) => pattern.among))];
    return new Map(groups.map((group, i) => [group, groupColours[i % groupColours.length]]));
  };
  const groupText = (group) => (degrees[group] ? `${group} (${degrees[group]} parallel)` : group);

  // ---------------------------------------------------------------------------------- where a step's time goes
  const partsOf = (step, groups) => {
    const parts = [{ name: "computing", value: step.computing_us, colour: colours.computing, more: step.computing_by }];
    for (const pattern of step.traffic)
      parts.push({ name: `${pattern.id}, exposed`, value: pattern.exposed_us, colour: groups.get(pattern.among),
        more: `${pattern.what}\n${countText(pattern.count)} x ${time(pattern.each_us)} `
          + (pattern.reach ? `over ${pattern.reach}` : "") });
    const idle = step.trace ? "neither of both" : "idle pipeline";
    parts.push({ name: idle, value: step.idle_us, colour: colours.idle });
    let from = 0;
    for (const part of parts) {
      part.from = from;
      from += part.value || 0;
      part.step = step;
    }
    return parts.filter((part) => part.value > 0);
  };

  const drawParts = (drawn, bars, x, rowHeight, top) => {
    const rows = drawn.selectAll("g.bar").data(bars).enter().append("g").attr("class", "bar")
      .attr("transform", (bar, i) => `translate(0,${top + i * rowHeight})`);
    rows.append("text").attr("x", x.range()[0] - 10).attr("y", rowHeight / 2 + 2).attr("text-anchor", "end")
      .text((bar) => bar.name);
    rows.append("text").attr("x", (bar) => x(bar.step.step_us) + 8).attr("y", rowHeight / 2 + 2)
      .text((bar) => time(bar.step.step_us));
    const parts = rows.selectAll("g.part").data((bar) => bar.parts).enter().append("g").attr("class", "part")
      .attr("role", "img")
      .attr("transform", (part) => `translate(${x(part.from)},0)`);
    const across = (part) => x(part.from + part.value) - x(part.from);
    parts.append("rect").attr("width", (part) => Math.max(0.5, across(part))).attr("height", rowHeight - 10)
      .style("fill", (part) => part.colour).style("stroke", "var(--ground)").attr("stroke-width", 1);
    parts.append("text").attr("x", 5).attr("y", rowHeight / 2 - 1).style("fill", (part) => inkOn(part.colour))
      .style("font-size", "11px")
      .text((part) => [`${part.name} ${percent(part.value / part.step.step_us, 0)}`, part.name,
      percent(part.value / part.step.step_us, 0), ""]
        .find((text) => lanewise.widthOf(text) < across(part) - 8) || "");
    const share = (part) => percent(part.value / part.step.step_us);
    lanewise.withTip(parts, (part) => `${part.name}: ${time(part.value)}, ${share(part)} of it`
      + (part.more ? `\n${part.more}` : ""));
  };

  const stackSection = (root, result, groups) => {
    const made = section(root, `Where the ${stepName(result)} goes`,
      "Communication is exposed where no computing hides it. Parts of equal colour are in the same kind of group.");
    const used = [...groups].filter(([group]) =>
      result.steps.some((step) => step.traffic.some((one) => one.among === group && one.exposed_us > 0)));
    const idle = result.steps.some((step) => step.idle_us > 0);
    legend(made.node(), [{ colour: colours.computing, text: "computing" },
      ...used.map(([group, colour]) => ({ colour, text: `exposed, ${groupText(group)}` })),
      ...(idle ? [{ colour: colours.idle, text: result.trace ? "neither of both" : "idle pipeline" }] : [])]);
    const isNamedTwice = new Set(result.steps.map((step) => step.machine)).size < result.steps.length;
    const bars = result.steps.map((step) =>
      ({ step, name: isNamedTwice ? `${step.machine}, ${step.library}` : step.machine,
      parts: partsOf(step, groups) }));
    const left = d3.max(bars, (bar) => lanewise.widthOf(bar.name)) + 16;
    const [width, rowHeight, top] = [1280, 40, 26];
    const x = d3.scaleLinear().domain([0, d3.max(result.steps, (step) => step.step_us)]).range([left, width - 80]);
    const drawn = lanewise.svg(made.node(), width, top + bars.length * rowHeight,
      `where the ${stepName(result)} goes, by machine`);
    const unit = [[1e6, "s"], [1e3, "ms"], [1, "us"]].find(([least]) => x.domain()[1] >= least) || [1, "us"];
    drawn.append("g").attr("class", "axis").attr("transform", `translate(0,${top - 4})`)
      .call(d3.axisTop(x).ticks(8).tickFormat((at) => `${+(at / unit[0]).toPrecision(6)} ${unit[1]}`).tickSizeOuter(0));
    drawParts(drawn, bars, x, rowHeight, top);
    table(made.node(), [{ name: "machine", value: (step) => step.machine },
      { name: "collectives by", value: (step) => step.library },
      { name: stepName(result), value: (step) => step.step_us, text: (step) => time(step.step_us) },
      { name: "computing", value: (step) => step.computing_us, text: (step) => time(step.computing_us) },
      { name: "exposed", value: (step) => step.exposed_us, text: (step) => time(step.exposed_us) },
      { name: "idle", value: (step) => step.idle_us, text: (step) => time(step.idle_us) },
      { name: "tokens/s", value: (step) => step.tokens_per_second,
        text: (step) => (isThere(step.tokens_per_second) ? grouped(Math.round(step.tokens_per_second)) : "") },
      { name: "computing by", value: (step) => step.computing_by },
      { name: "mfu of the step", value: (step) => step.step_mfu,
        text: (step) => (isThere(step.step_mfu) ? percent(step.step_mfu) : "") },
    ], result.steps);
  };

  // ---------------------------------------------------------------------------------- exposed and hidden
  const orderText = (order) => {
    const usual = order.estimated_step_as_default_us;
    return `Order of the ranks: ${order.taken}, the fastest of ${order.tried} by estimate `
      + `(${time(order.estimated_step_us)}${isThere(usual) ? `; in the usual order ${time(usual)}` : ""}).`;
  };
  // Exposed parts are filled, hidden ones hollow.
  const patternSection = (root, step, groups, hasSeveral) => {
    const patterns = step.traffic.filter((one) => one.exposed_us + one.hidden_us > 0);
    const made = section(root, `Exposed and hidden communication${hasSeveral ? ` on ${step.machine}` : ""}`);
    if (patterns.length > 0) {
      legend(made.node(), [{ colour: "var(--ink)", text: "exposed: adds to the step (filled)" },
        { colour: "transparent", text: "hidden behind computing (hollow)" }]);
      lanewise.bars(made.node(), { label: "exposed and hidden time of each kind of traffic", tick: time, width: 560,
        rows: patterns.slice().sort((a, b) => b.exposed_us - a.exposed_us).map((one) => ({
          name: one.id,
          note: `${one.what}; ${percent(one.exposed_us / (one.exposed_us + one.hidden_us), 0)} of it exposed`,
          bars: [...(one.exposed_us > 0 ? [{ value: one.exposed_us, text: `${time(one.exposed_us)} exposed`,
            colour: groups.get(one.among) }] : []),
            ...(one.hidden_us > 0 ? [{ value: one.hidden_us, text: `${time(one.hidden_us)} hidden`,
            colour: groups.get(one.among), isHollow: true }] : [])] })) });
    }
    if (step.order)
      made.append("p").text(orderText(step.order));
    if ((step.notes || []).length > 0) made.append("ul").selectAll("li").data(step.notes).enter().append("li")
      .text((note) => note);
    table(made.node(), [{ name: "traffic", value: (one) => one.id }, { name: "exchange", value: (one) => one.exchange },
      { name: "among", value: (one) => `${one.among} ${one.group_size}` },
      { name: "groups at once", value: (one) => one.groups },
      { name: "reach", value: (one) => one.reach },
      { name: "size", value: (one) => one.bytes, text: (one) => bytes(Math.round(one.bytes)) },
      { name: "each takes", value: (one) => one.each_us, text: (one) => time(one.each_us) },
      { name: "bus bandwidth", value: (one) => one.bus_bandwidth_GBps, text: (one) => rate(one.bus_bandwidth_GBps) },
      { name: "a step", value: (one) => one.count, text: (one) => countText(one.count) },
      { name: "exposed", value: (one) => one.exposed_us, text: (one) => time(one.exposed_us) },
      { name: "hidden", value: (one) => one.hidden_us, text: (one) => time(one.hidden_us) }], step.traffic,
      { filter: false });
  };

  const trafficSection = (root, result, groups) => {
    const made = section(root, "Traffic", "What one rank sends in a step.");
    if (result.traffic.length === 0) {
      made.append("p").text("Nothing goes between its ranks.");
      return;
    }
    const sent = result.traffic.slice().sort((a, b) => b.wire_bytes - a.wire_bytes);
    lanewise.bars(made.node(), { label: "bytes that a rank sends in a step", tick: (value) => bytes(Math.round(value)),
      width: 460,
      rows: sent.map((one) => ({ name: one.id, note: `${one.exchange} among ${one.group_size}: ${one.what}`,
        bars: [{ value: one.wire_bytes, text: bytes(Math.round(one.wire_bytes)),
          colour: groups.get(one.among) }] })) });
    legend(made.node(), [...groups].map(([group, colour]) => ({ colour, text: groupText(group) })));
    table(made.node(), [{ name: "traffic", value: (one) => one.id }, { name: "exchange", value: (one) => one.exchange },
      { name: "among", value: (one) => `${one.among} ${one.group_size}` },
      { name: "size", value: (one) => one.bytes, text: (one) => bytes(Math.round(one.bytes)) },
      { name: "a step", value: (one) => one.count, text: (one) => countText(one.count) },
      { name: "a rank sends", value: (one) => one.wire_bytes, text: (one) => bytes(Math.round(one.wire_bytes)) },
      { name: "when", value: (one) => one.phase }, { name: "what", value: (one) => one.what, wrap: true }],
      result.traffic,
        { filter: false });
  };

  const drawWorkload = (root, result) => {
    const made = section(root, result.trace ? `Trace ${result.trace}`
      : `${result.model}, ${spaced(result.mode || "")}`);
    const pairs = [["ranks", grouped(result.ranks)]];
    if (result.trace) pairs.push(["nodes of the trace", grouped(result.nodes)]);
    if (result.parallel) pairs.push(["parallel", parallelText(result.parallel)]);
    if (result.micro_batches > 1) pairs.push(["micro-batches", grouped(result.micro_batches)]);
    if (result.tokens_at_once) pairs.push(["tokens at once", grouped(result.tokens_at_once)]);
    const steps = result.steps || [];
    if (steps.length === 1) {
      const [step] = steps;
      pairs.push(["machine", step.machine], [stepName(result), time(step.step_us)]);
      if (isThere(step.tokens_per_second)) pairs.push(["tokens/s", grouped(Math.round(step.tokens_per_second))]);
      if (isThere(step.step_mfu) && result.mode === "train") pairs.push(["mfu of the step", percent(step.step_mfu)]);
    }
    facts(made.node(), pairs);
    const groups = coloursOfGroups(result.traffic);
    if (steps.length > 0) stackSection(root, { ...result, steps }, groups);
    for (const step of steps) patternSection(root, step, groups, steps.length > 1);
    trafficSection(root, result, groups);
  };

  lanewise.view("workload/1", drawWorkload);
}
