// Draws design_result/1: which of several machines is the fastest for these jobs, what it costs, what a failure costs,
// and how sure that is.
{
  const { section, facts, legend, table, withTip, category, rounded, rate, time, percent, widthOf, grouped } = lanewise;
  const kDecided = 0.9;  // of draws; as the text output has it
  const times = (ratio) => (ratio >= 100 ? `${rounded(ratio)} x` : `${ratio.toFixed(2)} x`);
  const heading = (root, text) => d3.select(root).append("h3").style("font-size", "1rem")
    .style("margin", ".9rem 0 .2rem")
    .text(text);
  const note = (root, text) => d3.select(root).append("p").attr("class", "note").text(text);

  // ---------------------------------------------------------------------------------- candidates
  // Generated names consist of choices; those that all have in common would only make labels long.
  const commonSegments = (result) => {
    const names = result.candidates.filter((one) => one.detailed && one.candidate === one.machine)
      .map((one) => one.candidate.split("_")).filter((segments) => segments.length > 1);
    if (!result.generated || names.length < 2) return [];
    return names[0].filter((segment) => names.every((name) => name.includes(segment)));
  };
  const labelOf = (name, common) => name.split("_").filter((segment) => !common.includes(segment)).join("_") || name;

  // Where some part does not say its watts, what the others take is the least.
  const powerOf = (one) => {
    if (one.power_W !== undefined) return { watts: one.power_W, isLeast: false };
    const known = d3.sum(one.bill ? one.bill.parts : [], (part) => part.count * (part.power_W || 0));
    return known > 0 ? { watts: known, isLeast: true } : {};
  };

  const read = (result) => {
    const common = commonSegments(result);
    const good = result.candidates.filter((one) => !one.failure);
    const best = d3.max(good, (one) => one.score) || 0;
    const candidates = good.map((one) => {
      const { watts, isLeast } = powerOf(one);
      const price = one.price && one.price.amount;
      return { ...one, label: labelOf(one.candidate, common), power: watts, powerIsLeast: isLeast, amount: price,
        pricePerScore: price !== undefined && one.score > 0 ? price / one.score : undefined,
        slower: one.score > 0 ? best / one.score : undefined };
    });
    const currencies = candidates.map((one) => one.price && one.price.currency).filter(Boolean);
    const detailed = candidates.filter((one) => one.detailed);
    return { result, common, candidates, detailed, failed: result.candidates.filter((one) => one.failure),
      jobs: Object.keys(good.length > 0 ? good[0].jobs : {}), currency: currencies[0] || "",
        byLibrary: result.library !== "best" };
  };

  const money = (design) => (amount) =>
    (amount === undefined ? "unknown" : `${d3.format(",.0f")(amount)} ${design.currency}`);
  const kilowatts = (watts) => `${rounded(watts / 1000)} kW`;
  const powerText = (one) => (one.power === undefined ? "unknown" : (one.powerIsLeast ? "> " : "")
    + kilowatts(one.power));
  const limitsText = (one) => {
    if (one.broken_limits.length > 0) return one.broken_limits.join("; ");
    return one.score > 0 ? "met" : "a job is impossible";
  };
  const isGood = (one) => one.meets_limits && one.score > 0;
  const describe = (design, one) => [one.candidate,
    `score ${one.score.toFixed(3)}${one.detailed ? "" : ", only estimated"}`,
    ...(one.slower ? [`${times(one.slower)} the time of the best`] : []), `price ${money(design)(one.amount)}`,
    `power ${powerText(one)}`, one.on_front ? "on the front" : "not on the front", `limits: ${limitsText(one)}`,
    ...(one.beaten_by ? [`${one.beaten_by} takes no more of any part and is as fast`] : [])].join("\n");

  // ---------------------------------------------------------------------------------- head and ranking
  const headSection = (root, design) => {
    const { result, candidates, detailed } = design;
    const ranked = design.byLibrary ? `what ${result.library} does` : "the best plans";
    const made = section(root, result.title || result.design,
      `Ranked by ${ranked}, ${result.mode === "sim" ? "simulated" : "estimated"}. `
      + "The score is the weighted geometric mean of the fastest time over one's own: 1 is the fastest in every job.");
    const list = [["candidates", grouped(result.candidates.length)]];
    if (detailed.length < candidates.length) list.push(["evaluated in detail", grouped(detailed.length)]);
    if (candidates.length > 0) list.push(["highest score", candidates[0].label]);
    const good = detailed.find(isGood);
    if (good !== candidates[0]) list.push(["best that meets the limits", good ? good.label : "none"]);
    const priced = detailed.filter((one) => isGood(one) && one.pricePerScore !== undefined);
    if (priced.length > 0) {
      const cheapest = priced[d3.scan(priced, (a, b) => a.pricePerScore - b.pricePerScore)];
      list.push(["lowest price for its score, limits met", cheapest.label]);
    }
    facts(made.node(), list);
    if (design.common.length > 0)
      note(made.node(), `Every generated candidate evaluated in detail has ${design.common.join(", ")}; labels leave `
        + "that out.");
  };

  const rankingColumns = (design) => {
    const columns = [{ name: "candidate", value: (one) => one.label }, { name: "GPUs", value: (one) => one.gpus },
      { name: "score", value: (one) => one.score, text: (one) => one.score.toFixed(3) },
      { name: "slower than the best", value: (one) => one.slower,
        text: (one) => (one.slower ? times(one.slower) : "") },
      { name: "price", value: (one) => one.amount, text: (one) => money(design)(one.amount) },
      { name: "price / score", value: (one) => one.pricePerScore,
        text: (one) => (one.pricePerScore ? money(design)(one.pricePerScore) : "") },
      { name: "power", value: (one) => one.power, text: powerText },
      { name: "front", value: (one) => (one.on_front ? "yes" : "no") }];
    if (design.detailed.length < design.candidates.length)
      columns.push({ name: "evaluated",
        value: (one) => (one.detailed ? "in detail" : one.beaten_by ? "estimated, beaten" : "estimated") });
    return [...columns, { name: "limits", value: limitsText, wrap: true }];
  };

  const rankingSection = (root, design, choose) => {
    const made = section(root, "Ranking",
      "Front: no other candidate is at least as good in score, price and power and better in one. "
      + "A row, by click or Enter, chooses the candidate whose failures and parts are shown below.");
    const shown = { detailed: (one) => one.detailed, all: () => true, limits: (one) => isGood(one),
      front: (one) => one.on_front };
    const names = { detailed: "evaluated in detail", all: "all, also those only estimated",
      limits: "all that meet the limits",
      front: "all on the front" };
    const controls = made.append("p").node();
    const holder = made.append("div");
    const draw = (which) => {
      holder.selectAll("*").remove();
      table(holder.node(), rankingColumns(design), design.candidates.filter(shown[which]), { onRow: choose });
    };
    const options = Object.keys(shown).map((which) => ({ value: which, text: names[which] }));
    lanewise.choice(controls, "rows", options, "detailed", draw);
    draw("detailed");
    for (const one of design.failed) note(made.node(), `Not evaluated: ${one.candidate}: ${one.failure}`);
  };

  // ---------------------------------------------------------------------------------- Pareto plot
  const axesOf = (design) => [
    { id: "price", name: `price in ${design.currency}`, value: (one) => one.amount, tick: d3.format(",.0f") },
    { id: "power", name: "power in kW", value: (one) => (one.power === undefined ? undefined : one.power / 1000),
      tick: rounded },
    { id: "gpus", name: "number of GPUs", value: (one) => one.gpus, tick: d3.format("d") },
  ].filter((axis) => design.candidates.some((one) => axis.value(one) !== undefined)
    && (axis.id !== "gpus" || new Set(design.candidates.map((one) => one.gpus)).size > 1));

  // Of the candidates on the front those that no other beats in this plot: the front may need its third figure.
  const frontOf = (points, axis) => {
    let best = -Infinity;
    return points.filter((one) => one.on_front).sort((a, b) => axis.value(a) - axis.value(b) || b.score - a.score)
      .filter((one) => one.score > best && (best = one.score, true));
  };

  // Its power is at least what is drawn.
  const hasArrow = (one, axis) => axis.id === "power" && one.powerIsLeast;

  const plotArea = { width: 1000, height: 440, left: 60, right: 40, top: 16, bottom: 46 };
  const paretoAxes = (drawn, axis, x, y) => {
    const { width, height, left, right, top, bottom } = plotArea;
    drawn.append("g").attr("class", "axis").attr("transform", `translate(0,${height - bottom})`)
      .call(d3.axisBottom(x).ticks(8).tickFormat(axis.tick));
    drawn.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(6));
    drawn.append("text").attr("x", (left + width - right) / 2).attr("y", height - 8).attr("text-anchor", "middle")
      .text(`${axis.name} (less is better)`);
    drawn.append("text").attr("transform", `translate(14,${(top + height - bottom) / 2}) rotate(-90)`)
      .attr("text-anchor", "middle")
      .text("score (more is better)");
  };

  // A label takes the first place beside its point that is free; where none is, the tip has to tell.
  const paretoLabels = (drawn, points, steps, x, y, axis) => {
    const taken = points.map((one) => [x(axis.value(one)) - 8, y(one.score) - 8,
      x(axis.value(one)) + (hasArrow(one, axis) ? 24 : 8), y(one.score) + 8]);
    steps.slice(1).forEach((next, i) => {
      const [at, level] = [x(steps[i].at), y(steps[i].score)];
      taken.push([at, level - 2, x(next.at), level + 2], [x(next.at) - 2, y(next.score), x(next.at) + 2, level]);
    });
    const isFree = ([x0, y0, x1, y1]) => x0 > plotArea.left && x1 < plotArea.width && y0 > 0
      && y1 < plotArea.height - plotArea.bottom
      && taken.every((box) => box[2] < x0 || box[0] > x1 || box[3] < y0 || box[1] > y1);
    for (const one of points.filter((point) => point.detailed)) {
      const [at, level, width] = [x(axis.value(one)), y(one.score), widthOf(one.label)];
      const places = [[at + 11, level - 6], [at + 9, level - 20], [at + 9, level + 6], [at - 11 - width, level - 6],
        [at - 9 - width, level - 20], [at - 9 - width, level + 6], [at - width / 2, level - 26],
        [at - width / 2, level + 12],
        [at + 11, level - 34], [at + 11, level + 20], [at - 11 - width, level + 20]];
      const found = places.map(([left, top]) => [left, top, left + width, top + 13]).find(isFree);
      if (!found) continue;
      taken.push(found);
      drawn.append("text").attr("x", found[0]).attr("y", found[1] + 11).attr("pointer-events", "none").text(one.label);
    }
  };

  const paretoPoints = (drawn, design, points, x, y, axis, choose) => {
    const colour = (one) => (one.on_front ? "var(--good)" : "var(--warn)");
    const groups = drawn.append("g").selectAll("g").data(points).enter().append("g").attr("role", "img")
      .style("cursor", "pointer")
      .attr("transform", (one) => `translate(${x(axis.value(one))},${y(one.score)})`)
      .style("opacity", (one) => (one.detailed ? 1 : 0.4));
    groups.filter((one) => hasArrow(one, axis)).append("path").attr("d", "M0,0H22M17,-4L22,0L17,4")
      .attr("fill", "none").style("stroke", colour);
    groups.append("path").attr("d", (one) => d3.symbol().type(one.on_front ? d3.symbolCircle : d3.symbolSquare)
      .size(one.detailed ? 130 : 50)())
      .style("fill", (one) => (isGood(one) ? colour(one) : "var(--ground)")).style("stroke", colour)
      .attr("stroke-width", 2);
    withTip(groups, (one) => describe(design, one));
    groups.on("click", choose).on("keydown", (one) => { if (d3.event.key === "Enter") choose(one); });
  };

  const drawPareto = (root, design, axis, choose) => {
    // Those only estimated lie below, so that they do not hide the others.
    const points = design.candidates.filter((one) => axis.value(one) !== undefined)
      .sort((a, b) => d3.ascending(a.detailed, b.detailed));
    const { width, height, left, right, top, bottom } = plotArea;
    const [low, high] = d3.extent(points, axis.value);
    const margin = (high - low) * 0.08 || high * 0.1;
    const x = d3.scaleLinear().domain([Math.max(0, low - margin), high + margin]).range([left, width - right]);
    const y = d3.scaleLinear().domain([0, 1.05]).range([height - bottom, top]);
    const drawn = lanewise.svg(root, width, height, `score against ${axis.name}`);
    paretoAxes(drawn, axis, x, y);
    const steps = frontOf(points, axis).map((one) => ({ at: axis.value(one), score: one.score }));
    if (steps.length > 0) steps.push({ at: x.domain()[1], score: steps[steps.length - 1].score });
    const line = d3.line().x((one) => x(one.at)).y((one) => y(one.score)).curve(d3.curveStepAfter);
    drawn.append("path").attr("d", line(steps)).attr("fill", "none").style("stroke", "var(--good)")
      .attr("stroke-width", 1.5).attr("stroke-dasharray", "6 3");
    paretoPoints(drawn, design, points, x, y, axis, choose);
    paretoLabels(drawn, points, steps, x, y, axis);
    const without = design.candidates.length - points.length;
    if (without > 0) note(root, `Not drawn, because their ${axis.id} is not known: ${grouped(without)}.`);
  };

  const paretoSection = (root, design, choose) => {
    const axes = axesOf(design);
    const made = section(root, "Score against cost");
    if (axes.length === 0) return void note(made.node(), "No price and no power of these candidates is known.");
    const controls = made.append("p").node();
    const holder = made.append("div");
    const draw = (id) => {
      holder.selectAll("*").remove();
      drawPareto(holder.node(), design, axes.find((axis) => axis.id === id), choose);
    };
    lanewise.choice(controls, "against", axes.map((axis) => ({ value: axis.id, text: axis.name })), axes[0].id, draw);
    const texts = ["circle: on the front", "square: not on it", "dashed line: the front", "hollow: breaks a limit"];
    if (design.detailed.length < design.candidates.length) texts.push("faint: only estimated");
    if (design.candidates.some((one) => one.powerIsLeast))
      texts.push("arrow: at least so much power, as some part does not say its own");
    note(made.node(), `${texts.join("; ")}.`);
    draw(axes[0].id);
  };

  // ---------------------------------------------------------------------------------- jobs
  const speedText = (job) => {
    if (job.tokens_per_second !== undefined) return `${grouped(Number(job.tokens_per_second.toPrecision(4)))} tokens/s`;
    return job.bus_bandwidth_GBps === undefined ? "" : `bus bandwidth ${rate(job.bus_bandwidth_GBps)}`;
  };

  const jobRow = (design, one, name) => {
    const job = one.jobs[name];
    if (job.failure) return { name: one.label, note: job.failure, tip: `${one.candidate}\n${job.failure}`,
      bars: [{ value: 0, text: "impossible", colour: "var(--bad)", isHollow: true }] };
    const bars = [{ value: job.time_us, text: time(job.time_us), colour: category(0) }];
    if (design.byLibrary && job.best_us !== undefined)
      bars.push({ value: job.best_us, text: time(job.best_us), colour: category(1) });
    const remarks = [`${times(job.ratio)} the time of the fastest`, speedText(job), job.busiest].filter(Boolean);
    const range = job.range_us ? `90 % range ${time(job.range_us[0])} to ${time(job.range_us[1])}` : "";
    return { name: one.label, bars, whisker: job.range_us, note: remarks.join("; "),
      tip: [one.candidate, `${name}: ${time(job.time_us)}`, range,
        bars.length > 1 ? `best plan ${time(job.best_us)}` : "",
        ...remarks]
        .filter(Boolean).join("\n") };
  };

  const jobsSection = (root, design) => {
    const made = section(root, "Jobs", "Time of each job; whiskers hold 90 of 100 measurements.");
    const entries = [{ colour: category(0), text: design.byLibrary ? design.result.library : "best plan" }];
    if (design.byLibrary) entries.push({ colour: category(1), text: "lanewise's own plan (it plans no sums in switches)" });
    legend(made.node(), entries);
    for (const name of design.jobs) {
      const weight = (design.result.weights || {})[name];
      heading(made.node(), weight === undefined ? name : `${name}, weight ${weight}`);
      lanewise.bars(made.node(), { label: `time of ${name}`, tick: time,
        rows: design.detailed.map((one) => jobRow(design, one, name)) });
    }
  };

  const pairsSection = (root, design) => {
    const rows = design.candidates.filter((one) => one.slowest_pair_GBps !== undefined);
    if (rows.length === 0) return;
    table(section(root, "Between the GPUs").node(), [
      { name: "candidate", value: (one) => one.label }, { name: "slowest pair", value: (one) => one.slowest_pair },
      { name: "its rate", value: (one) => one.slowest_pair_GBps, text: (one) => rate(one.slowest_pair_GBps) },
      { name: "between two halves, each way", value: (one) => one.bisection_GBps,
        text: (one) => (one.bisection_GBps === undefined ? "no way" : rate(one.bisection_GBps)) }], rows);
  };

  // ---------------------------------------------------------------------------------- how sure it is
  const swingOf = (figure) => Math.abs(figure.at_high - figure.at_low);

  const tornadoRow = (group, figure, x, left, plot, lead) => {
    const ends = [{ at: figure.at_low, colour: category(1) }, { at: figure.at_high, colour: category(0) }];
    const start = lead === undefined ? (figure.at_low + figure.at_high) / 2 : lead;
    // The longer bar first: where both ends lie on one side of the lead, the shorter stays visible.
    for (const end of ends.sort((a, b) => Math.abs(b.at - start) - Math.abs(a.at - start)))
      group.append("rect").attr("x", Math.min(x(start), x(end.at))).attr("y", 3).attr("height", 14)
        .attr("width", Math.max(1.5, Math.abs(x(end.at) - x(start)))).style("fill", end.colour);
    group.append("text").attr("x", left - 10).attr("y", 14).attr("text-anchor", "end").text(figure.figure)
      .style("font-weight", figure.decides ? "bold" : null);
    group.append("text").attr("x", left + plot + 12).attr("y", 14).style("font-weight", figure.decides ? "bold" : null)
      .text(`${figure.at_low.toFixed(3)} to ${figure.at_high.toFixed(3)}${figure.decides ? ", decides" : ""}`);
  };

  const tornado = (root, figures, lead) => {
    const rows = figures.slice().sort((a, b) => swingOf(b) - swingOf(a));
    const left = d3.max(rows, (figure) => 1.15 * widthOf(figure.figure)) + 20;  // those that decide are bold
    const plot = 560;
    const height = 34 + rows.length * 24;
    const ends = d3.merge(rows.map((figure) => [figure.at_low, figure.at_high]));
    const x = d3.scaleLinear().domain(d3.extent([1, ...ends, ...(lead === undefined ? [] : [lead])])).nice()
      .range([left, left + plot]);
    const drawn = lanewise.svg(root, left + plot + 200, height,
      "lead of the first over the second at both ends of each figure");
    drawn.append("g").attr("class", "axis").attr("transform", "translate(0,24)")
      .call(d3.axisTop(x).ticks(7).tickFormat((value) => `${rounded(value)} x`));
    const groups = drawn.append("g").selectAll("g").data(rows).enter().append("g").attr("role", "img")
      .attr("transform", (figure, i) => `translate(0,${30 + i * 24})`);
    groups.append("rect").attr("width", left + plot + 200).attr("height", 20).style("fill", "transparent");
    groups.each(function (figure) { tornadoRow(d3.select(this), figure, x, left, plot, lead); });
    for (const [at, colour, width] of [[1, "var(--ink)", 2],
      ...(lead === undefined ? [] : [[lead, "var(--faint)", 1]])])
      drawn.append("line").attr("x1", x(at)).attr("x2", x(at)).attr("y1", 24).attr("y2", height).style("stroke", colour)
        .attr("stroke-width", width).attr("stroke-dasharray", width === 1 ? "3 3" : null);
    withTip(groups, (figure) =>
      `${figure.figure}\nlead at its lowest ${figure.at_low.toFixed(3)}, at its highest ${figure.at_high.toFixed(3)}`
      + `${figure.decides ? "\ndecides: it can turn the order" : ""}\nmeasured by ${figure.measured_by}`);
  };

  const duelBars = (root, design, duels) => {
    const label = (name) => labelOf(name, design.common);
    lanewise.bars(root, { label: "how often each candidate beats the next", high: 1, tick: (share) => percent(share, 0),
      width: 300, longestName: 100,
      lines: [{ at: kDecided, text: "decided from here on" }],
      rows: duels.map((duel) => ({ name: `${label(duel.first)} beats ${label(duel.second)}`,
        bars: [{ value: duel.share, text: percent(duel.share, 0),
          colour: duel.share >= kDecided ? "var(--good)" : "var(--bad)",
          isHollow: duel.share < kDecided }], note: duel.share >= kDecided ? "decided" : "undecided" })) });
  };

  const sensitivitySection = (root, design) => {
    const found = design.result.sensitivity;
    if (!found) return;
    const made = section(root, "How sure that is",
      `All ranged figures are drawn together, ${grouped(found.draws)} times (seed ${found.seed}). `
      + `An order that holds in fewer than ${percent(kDecided, 0)} of the draws (dashed line) is undecided.`);
    duelBars(made.node(), design, found.duels);
    const [first, second] = design.candidates;
    if (!second || found.figures.length === 0)
      return void note(made.node(), "No ranged figure moves the two best against one another by more than 0.1 %.");
    heading(made.node(), `Lead of ${first.label} over ${second.label}, each figure at both ends of its 90 % range`);
    note(made.node(), "Left of the line at 1 the second is the faster. The dashed line is the lead as it stands.");
    legend(made.node(), [{ colour: category(1), text: "the figure at its lowest" },
      { colour: category(0), text: "at its highest" }]);
    tornado(made.node(), found.figures, second.score > 0 ? first.score / second.score : undefined);
    const deciding = found.figures.find((figure) => figure.decides);
    if (deciding && found.duels.length > 0 && found.duels[0].share < kDecided)
      made.append("p").text(`Decided by ${deciding.figure}: measure that first, by ${deciding.measured_by}.`);
    table(made.node(), [{ name: "figure", value: (figure) => figure.figure },
      { name: "lead at its lowest", value: (figure) => figure.at_low, text: (figure) => figure.at_low.toFixed(3) },
      { name: "lead at its highest", value: (figure) => figure.at_high, text: (figure) => figure.at_high.toFixed(3) },
      { name: "", value: (figure) => (figure.decides ? "decides" : "") },
      { name: "measured by", value: (figure) => figure.measured_by, wrap: true }], found.figures);
  };

  // ---------------------------------------------------------------------------------- failures and parts
  const resilienceSection = (root, design) => {
    const rows = design.detailed.filter((one) => one.faults && one.faults.losses.length > 0);
    if (rows.length === 0) return;
    const made = section(root, "What a failure costs each candidate",
      "Of its own score without a failure; the time of a job counts by its weight.");
    legend(made.node(), [{ colour: category(0), text: "score that is left in the mean" },
      { colour: category(5), text: "at worst" }]);
    lanewise.bars(made.node(), { label: "score that failures leave", high: 1, tick: (share) => percent(share, 0),
      rows: rows.map((one) => ({ name: one.label, note: `worst: ${one.faults.losses[0].what}`,
        bars: [{ value: one.faults.resilience, text: percent(one.faults.resilience), colour: category(0) },
          { value: one.faults.worst, text: percent(one.faults.worst), colour: category(5) }] })) });
  };

  const laneBars = (root, lanes) => {
    lanewise.bars(root, { label: "PCIe lanes used and there", tick: d3.format("d"), width: 360,
      rows: lanes.map((lane) => {
      const bars = [{ value: lane.used, text: `${lane.used} used`, colour: category(0) }];
      if (lane.there !== undefined)
        bars.push({ value: lane.there, text: `${lane.there} there, ${lane.there - lane.used} free`, colour: "#8c8c8c",
          isHollow: true });
      return { name: lane.owner, bars };
    }) });
  };

  const billOf = (root, design, one) => {
    const { bill } = one;
    heading(root, "Bill of materials");
    const priceOf = (part) => part.price && part.price.amount;
    const of = (value) => (part) => (value(part) === undefined ? undefined : value(part) * part.count);
    const watts = (value) => (part) => (value(part) === undefined ? "unknown" : `${grouped(value(part))} W`);
    const power = (part) => part.power_W;
    const columns = [{ name: "part", value: (part) => part.part }, { name: "kind", value: (part) => part.kind },
      { name: "count", value: (part) => part.count },
      { name: "power of one", value: power, text: watts(power) },
      { name: "of all", value: of(power), text: watts(of(power)) }];
    if (bill.parts.some(priceOf))
      columns.push({ name: "price of one", value: priceOf, text: (part) => money(design)(priceOf(part)) },
        { name: "price of all", value: of(priceOf), text: (part) => money(design)(of(priceOf)(part)) });
    table(root, columns, bill.parts, { filter: false });
    const sum = d3.sum(bill.parts, (part) => part.count * (part.power_W || 0));
    const sumText = sum > 0 ? (bill.without_power.length > 0 ? "> " : "") + kilowatts(sum) : "unknown";
    facts(root, [["power of its parts", sumText], ["power", powerText(one)], ["price", money(design)(one.amount)]]);
    if (bill.without_power.length > 0) note(root, `Without the power of ${bill.without_power.join(", ")}.`);
    note(root, "Fans, memory and losses of power supplies are not counted.");
    if (bill.without_price.length > 0) note(root, `Without the price of ${bill.without_price.join(", ")}.`);
    if (bill.cables.length > 0)
      table(root, [{ name: "cables", value: (cable) => cable.what }, { name: "count", value: (cable) => cable.count },
        { name: "rate one way", value: (cable) => cable.rate_GBps, text: (cable) => rate(cable.rate_GBps) }],
        bill.cables,
          { filter: false });
    if (bill.lanes.length > 0) {
      heading(root, "PCIe lanes");
      laneBars(root, bill.lanes);
    }
  };

  // Returns what shows a candidate here.
  const candidateSection = (root, design) => {
    const made = section(root, "One candidate");
    const controls = made.append("p").node();
    const holder = made.append("div");
    const show = (one) => {
      holder.selectAll("*").remove();
      heading(holder.node(), one.candidate);
      facts(holder.node(), [["score", one.score.toFixed(3)], ["GPUs", String(one.gpus)], ["limits", limitsText(one)],
        ["evaluated", one.detailed ? "in detail" : "only estimated"]]);
      if (one.faults && one.faults.losses.length > 0) {
        heading(holder.node(), "What a failure costs");
        lanewise.faultReport(holder.node(), one.faults);
      }
      if (one.bill) billOf(holder.node(), design, one);
    };
    const first = design.candidates.find(isGood) || design.candidates[0];
    const options = design.candidates.map((one) => ({ value: one.candidate,
      text: one.detailed ? one.label : `${one.label} (estimated)` }));
    const list = lanewise.choice(controls, "candidate", options, first.candidate,
      (name) => show(design.candidates.find((one) => one.candidate === name)));
    show(first);
    return (one) => {
      list.property("value", one.candidate);
      show(one);
      made.node().scrollIntoView();
      list.node().focus();
    };
  };

  const generatedSection = (root, design) => {
    const { generated } = design.result;
    if (!generated) return;
    const made = section(root, "Candidates made from parts");
    const beaten = design.candidates.filter((one) => one.beaten_by).length;
    facts(made.node(), [["combinations", grouped(generated.combinations)],
      ["can be built and differ", grouped(generated.candidates)],
      ["take no less of any part than another and are faster in no job", grouped(beaten)],
      ["the same machine as another", grouped(generated.equivalent)],
      ["cannot be built", grouped(d3.sum(Object.values(generated.excluded || {})))]]);
    const reasons = Object.entries(generated.excluded || {}).sort((a, b) => b[1] - a[1]);
    if (reasons.length === 0) return;
    heading(made.node(), "Why combinations are left out");
    lanewise.bars(made.node(), { label: "number of combinations left out, by reason", tick: d3.format("d"), width: 300,
      longestName: 100,
      rows: reasons.map(([reason, count]) =>
        ({ name: reason, bars: [{ value: count, text: grouped(count), colour: "#8c8c8c" }] })) });
  };

  lanewise.view("design_result/1", (root, result) => {
    const design = read(result);
    headSection(root, design);
    let chosen = () => {};
    const choose = (one) => chosen(one);
    rankingSection(root, design, choose);
    if (design.candidates.length === 0) return;
    paretoSection(root, design, choose);
    jobsSection(root, design);
    pairsSection(root, design);
    sensitivitySection(root, design);
    resilienceSection(root, design);
    chosen = candidateSection(root, design);
    generatedSection(root, design);
  });
}
