// Draws trace/2 (lanewise run): when each step of a plan ran, and what was busy.
{
  const { section, facts, legend, table, time, rate, bytes, percent, rounded, category, inkOn } = lanewise;
  const { choice, bars, widthOf, fitText, sharpCanvas, inWindow, zoomFilter, zoomByKey, coloursOf, holds } = lanewise;
  const { grouped, plural, isThere, timeUnit, spaced, byName, modeWords } = lanewise;

  // ---------------------------------------------------------------------------------- steps
  const duration = (step) => step.end_us - step.start_us;
  const mechanismOf = (step) => step.mechanism || (step.to ? "not stated" : "computing or launch");
  const endsOf = (step) => (step.to ? `${step.from} > ${step.to}` : step.from || "");
  // A copy within one place is far faster than all others and passes no link: totals leave it out.
  const rateBetween = (step) => (step.from && step.from === step.to ? 0 : step.bandwidth_GBps || 0);
  const textOf = (step) => `${step.transfer} ${endsOf(step)} ${mechanismOf(step)} ${step.phase || ""}`.toLowerCase();

  const describe = (step, count) => {
    const lines = [`${step.transfer}${endsOf(step) ? `: ${endsOf(step)}` : ""}`,
      `step ${grouped(step.order + 1)} of ${grouped(count)} by start`,
      [mechanismOf(step), step.phase].filter(Boolean).join(", "),
      `${time(step.start_us)} to ${time(step.end_us)}: ${time(duration(step))}`];
    if (step.duration_interval_us) lines.push(`90 % range: ${step.duration_interval_us.map(time).join(" to ")}`);
    if (step.noise_us) lines.push(`noise of the median: ${step.noise_us.map(time).join(" to ")}`);
    if (step.bytes) lines.push(`${bytes(step.bytes)} at ${rate(step.bandwidth_GBps)}`);
    if (isThere(step.offset)) lines.push(`of the result, from byte ${grouped(step.offset)}`);
    if (isThere(step.verified)) lines.push(step.verified ? "arrived as sent" : `ARRIVED WRONG: ${step.mismatch || ""}`);
    return lines.join("\n");
  };

  // ---------------------------------------------------------------------------------- layout of the timeline
  // Steps of one row that overlap stand in lanes of it: each takes the first lane that is free.
  const intoLanes = (steps, end) => {
    const free = [];
    for (const step of steps) {
      let lane = free.findIndex((until) => until <= step.start_us + 1e-9 * end);
      if (lane < 0) lane = free.push(0) - 1;
      free[lane] = step.end_us;
      step.lane = lane;
    }
    return free.length;
  };

  const rowKinds = {
    from: { text: "sender", of: (step) => step.from || step.transfer,
      label: (step) => (step.to ? `to ${step.to}` : step.transfer) },
    to: { text: "receiver", of: (step) => step.to || step.from || step.transfer,
      label: (step) => (step.to ? `from ${step.from}` : step.transfer) },
    transfer: { text: "transfer", of: (step) => step.transfer, label: endsOf },
    engine: { text: "engine", of: (step) => (step.engines || [])[0] || "without an engine", label: endsOf },
  };

  const layoutOf = (steps, kind, end) => {
    const of = new Map();
    for (const step of steps) {
      const name = kind.of(step);
      if (!of.has(name)) of.set(name, []);
      of.get(name).push(step);
    }
    let rows = [...of].map(([name, its]) => ({ name, steps: its, lanes: intoLanes(its, end) }));
    if (kind !== rowKinds.transfer) rows = rows.sort((a, b) => byName(a.name, b.name));
    const lanes = d3.sum(rows, (row) => row.lanes) || 1;
    const laneHeight = Math.min(18, Math.max(640, Math.min(900, rows.length * 14)) / lanes);
    const gap = laneHeight > 3 ? 3 : 0.15 * laneHeight;
    let y = 0;
    for (const row of rows) {
      row.y = y;
      row.height = row.lanes * laneHeight;
      for (const step of row.steps) step.y = y + step.lane * laneHeight;
      y += row.height + gap;
    }
    return { rows, laneHeight, height: Math.ceil(y) };
  };

  // ---------------------------------------------------------------------------------- drawing the timeline
  const kTop = 24;
  const kProfile = 64;  // pixels of the curve of the total rate, below the rows

  const drawMarks = (view) => {
    const { brush, x, layout, left, width } = view;
    brush.clearRect(0, 0, width, view.height);
    brush.save();
    brush.beginPath();
    brush.rect(left, kTop, width - left, layout.height);
    brush.clip();
    brush.font = '11px system-ui, "DejaVu Sans", sans-serif';
    brush.textBaseline = "middle";
    const high = Math.max(1, layout.laneHeight - (layout.laneHeight > 4 ? 1 : 0));
    for (const step of view.steps) {
      const from = Math.max(left - 2, x(step.start_us));
      const to = Math.min(width + 2, x(step.end_us));
      if (to < left || from > width) continue;
      const across = to - from;
      const colour = view.colours.of(step);
      brush.fillStyle = colour;
      brush.fillRect(from, kTop + step.y, Math.max(1, across - (across > 3 ? 1 : 0)), high);
      if (across < 36 || high < 11) continue;
      const label = view.kind.label(step);
      if (brush.measureText(label).width > across - 6) continue;
      brush.fillStyle = inkOn(colour);
      brush.fillText(label, from + 3, kTop + step.y + high / 2 + 0.5);
    }
    brush.restore();
  };

  const drawRowNames = (view) => {
    const { rows } = view.layout;
    const apart = rows.length > 1 ? rows[1].y - rows[0].y : 20;
    const every = Math.max(1, Math.ceil(12 / Math.max(apart, view.layout.height / rows.length)));
    const named = rows.filter((row, i) => i % every === 0);
    const texts = view.over.select(".names").selectAll("text").data(named);
    texts.exit().remove();
    texts.enter().append("text").attr("text-anchor", "end").merge(texts).attr("x", view.left - 6)
      .attr("y", (row) => kTop + row.y + Math.min(row.height, 400) / 2 + 4)
      .text((row) => fitText.shortened(row.name, view.left - 8, 12));
    const lines = view.over.select(".rules").selectAll("line").data(view.layout.laneHeight > 3 ? rows.slice(1) : []);
    lines.exit().remove();
    lines.enter().append("line").style("stroke", "var(--line)").style("opacity", 0.6).merge(lines)
      .attr("x1", view.left).attr("x2", view.width).attr("y1", (row) => kTop + row.y - 2)
      .attr("y2", (row) => kTop + row.y - 2);
  };

  // The highest total rate of all steps under way, for every pixel.
  const profileOf = (view) => {
    const pixels = Math.max(1, Math.floor(view.width - view.left));
    const most = new Float64Array(pixels);
    let now = 0;
    let at = -1;
    for (const event of view.events) {
      const pixel = Math.floor(view.x(event.at) - view.left);
      for (let i = Math.max(0, at + 1); i < Math.min(pixel, pixels); ++i) most[i] = Math.max(most[i], now);
      now += event.change;
      at = Math.max(at, Math.min(pixel, pixels));
      if (pixel >= 0 && pixel < pixels) most[pixel] = Math.max(most[pixel], now);
    }
    return most;
  };

  const drawProfile = (view) => {
    const most = profileOf(view);
    const base = kTop + view.layout.height + kProfile;
    const y = d3.scaleLinear().domain([0, view.mostRate || 1]).range([base, base - kProfile + 16]);
    const area = d3.area().x((value, i) => view.left + i).y0(base).y1((value) => y(value)).curve(d3.curveStepAfter);
    view.over.select(".profile").attr("d", area(most));
    view.over.select(".profile-name").attr("x", view.left - 6).attr("y", base - kProfile / 2 + 2);
    view.over.select(".profile-most").attr("x", view.left - 6).attr("y", base - kProfile / 2 + 17)
      .text(`at most ${rate(view.mostRate)}`);
  };

  const drawCursor = (view) => {
    const step = view.selected;
    const seen = view.x.domain();
    const isShown = step && step.end_us >= seen[0] && step.start_us <= seen[1];
    const cursor = view.over.select(".cursor").style("display", isShown ? null : "none");
    if (isShown)
      cursor.selectAll("rect").attr("x", Math.max(view.left, view.x(step.start_us))).attr("y", kTop + step.y)
        .attr("width", Math.max(2, Math.min(view.width, view.x(step.end_us))
          - Math.max(view.left, view.x(step.start_us))))
        .attr("height", Math.max(2, view.layout.laneHeight - 1));
    const x = view.x(view.moment);
    view.over.select(".moment").attr("x1", x).attr("x2", x).attr("y1", kTop - 4).attr("y2", view.height - 2)
      .style("display", x >= view.left - 1 && x <= view.width + 1 ? null : "none");
  };

  const drawTimeline = (view) => {
    const [least, unit] = timeUnit(view.end);
    view.over.select(".axis").attr("transform", `translate(0,${kTop - 4})`)
      .call(d3.axisTop(view.x).ticks(Math.floor(view.width / 120)).tickSizeOuter(0)
      .tickFormat((at) => `${+(at / least).toPrecision(6)} ${unit}`));
    drawMarks(view);
    drawProfile(view);
    drawCursor(view);
  };

  // ---------------------------------------------------------------------------------- moving in the timeline
  const stepAt = (view, x, y) => {
    let best = null;
    let nearest = 5;  // pixels
    const high = Math.max(2, view.layout.laneHeight);
    for (const step of view.steps) {
      const across = Math.max(view.x(step.start_us) - x, 0, x - view.x(step.end_us));
      const down = Math.max(kTop + step.y - y, 0, y - kTop - step.y - high);
      if (across + down >= nearest) continue;
      nearest = across + down;
      best = step;
    }
    return best;
  };

  const select = (view, step, isFollowed) => {
    view.selected = step;
    if (!step) {
      drawCursor(view);
      lanewise.hideTip();
      return;
    }
    const seen = view.x.domain();
    if (isFollowed && (step.end_us < seen[0] || step.start_us > seen[1]))
      view.zoom.translateTo(view.over, view.whole((step.start_us + step.end_us) / 2), 0);
    drawCursor(view);
    const x = Math.max(view.left, Math.min(view.width, view.x(step.end_us)));
    const at = inWindow(view.over, x, kTop + step.y + view.layout.laneHeight);
    lanewise.tipAt(at, describe(step, view.count));
  };

  // Left and right: the step that starts before or next. Up and down: in the row beside, the step nearest in time.
  const stepBeside = (view, key) => {
    const now = view.steps.indexOf(view.selected);
    if (now < 0 || key === "Home") return view.steps[0];
    if (key === "End") return view.steps[view.steps.length - 1];
    if (key === "ArrowLeft" || key === "ArrowRight")
      return view.steps[Math.max(0, Math.min(view.steps.length - 1, now + (key === "ArrowLeft" ? -1 : 1)))];
    const { rows } = view.layout;
    const row = rows.findIndex((one) => one.steps.includes(view.selected));
    const beside = rows[Math.max(0, Math.min(rows.length - 1, row + (key === "ArrowUp" ? -1 : 1)))];
    const apart = (step) => Math.abs(step.start_us - view.selected.start_us);
    return beside.steps[d3.scan(beside.steps, (a, b) => apart(a) - apart(b))];
  };

  const makeMovable = (view, pickMoment) => {
    const plot = [[view.left, 0], [view.width - 28, view.height]];
    view.zoom = d3.zoom().scaleExtent([1, 2000]).extent(plot).translateExtent(plot).filter(zoomFilter)
      .on("zoom", () => {
        view.x = d3.event.transform.rescaleX(view.whole);
        drawTimeline(view);
      });
    view.over.call(view.zoom)
      .on("mousemove", function () {
        const [x, y] = d3.mouse(this);
        select(view, stepAt(view, x, y));
      })
      .on("mouseleave", () => select(view, null))
      .on("click", function () {
        const [x] = d3.mouse(this);
        if (x >= view.left) pickMoment(view.x.invert(x));
      })
      .on("blur", () => lanewise.hideTip())
      .on("keydown", () => {
        const { key } = d3.event;
        if (view.steps.length === 0) return;
        if (key.startsWith("Arrow") || key === "Home" || key === "End") select(view, stepBeside(view, key), true);
        else if (key === "Enter" && view.selected) pickMoment((view.selected.start_us + view.selected.end_us) / 2);
        else if (key === "Escape") select(view, null);
        else if (!zoomByKey(key, view.zoom, view.over, view.selected && [view.x(view.selected.start_us), 0])) return;
        d3.event.preventDefault();
      });
  };

  const zoomButtons = (root, view) => {
    const bar = d3.select(root).append("span").attr("class", "no-print");
    const add = (text, label, act) => bar.append("button").attr("type", "button").attr("aria-label", label)
      .style("margin-right", ".3rem").text(text).on("click", act);
    add("+", "zoom in", () => view.zoom.scaleBy(view.over, 2));
    add("\u2212", "zoom out", () => view.zoom.scaleBy(view.over, 0.5));
    add("whole run", "show the whole run", () => view.zoom.transform(view.over, d3.zoomIdentity));
  };

  // A timeline of these steps in a new canvas: how many lanes there are sets how high it is.
  const makeTimeline = (root, state, pickMoment) => {
    const kind = rowKinds[state.rows];
    const layout = layoutOf(state.shown, kind, state.end);
    const width = Math.max(640, Math.min(1352, d3.select("#main").node().clientWidth || 1100));
    const names = d3.max(layout.rows.slice(0, 500), (row) => widthOf(row.name)) || 0;
    const left = Math.min(220, Math.max(names, widthOf("at most 888.8 GB/s")) + 12);
    const height = kTop + layout.height + kProfile + 4;
    const { brush, over } = sharpCanvas(root, width, height,
      `timeline of ${plural(state.shown.length, "step", "steps")} by ${kind.text}. Left and right arrows go from step `
      + "to step in order of their start, up and down to another row, plus and minus zoom, 0 shows the whole run.");
    const whole = d3.scaleLinear().domain([0, state.end]).range([left, width - 28]);
    const events = d3.merge(state.shown.map((step) => [{ at: step.start_us, change: rateBetween(step) },
      { at: step.end_us, change: -rateBetween(step) }])).sort((a, b) => a.at - b.at || a.change - b.change);
    let now = 0;
    const view = { brush, over, kind, layout, width, height, left, whole, x: whole, events, end: state.end,
      count: state.all.length,
      steps: state.shown, colours: state.colours, moment: state.moment, selected: null,
      mostRate: d3.max(events, (event) => (now += event.change)) || 0 };
    over.append("rect").attr("width", width).attr("height", height).style("fill", "transparent");
    over.append("g").attr("class", "axis");
    over.append("g").attr("class", "rules");
    over.append("g").attr("class", "names");
    over.append("path").attr("class", "profile").style("fill", "var(--faint)").style("opacity", 0.55);
    over.append("text").attr("class", "profile-name").attr("text-anchor", "end").text("total rate");
    over.append("text").attr("class", "profile-most label-faint").attr("text-anchor", "end").style("font-size", "11px");
    over.append("line").attr("class", "moment").style("stroke", "var(--bad)").attr("stroke-width", 1.5);
    const cursor = over.append("g").attr("class", "cursor").attr("pointer-events", "none");
    for (const [colour, stroke] of [["#000", 4], ["#fff", 2]])
      cursor.append("rect").attr("fill", "none").attr("stroke", colour).attr("stroke-width", stroke);
    makeMovable(view, pickMoment);
    drawRowNames(view);
    drawTimeline(view);
    return view;
  };

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

  // ---------------------------------------------------------------------------------- tables and bars of a run
  const kMostRows = 300;  // at once: laying out a table takes longer than all else
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

  const resourceSection = (root, result) => {
    if (!result.resources || result.resources.length === 0) return;
    const binding = new Map((result.binding || []).map((one) => [one.name, one.share]));
    const made = section(root, "Busiest resources",
      "How much of the run's time a resource was used, in terms of what it can carry.");
    const order = result.resources.slice().sort((a, b) => b.utilisation - a.utilisation);
    const note = (one) => bytes(Math.round(one.bytes))
      + (binding.has(one.name) ? `; decides ${percent(binding.get(one.name), 0)} of the bound` : "");
    bars(made.node(), { label: "the busiest resources", high: Math.max(1, order[0].utilisation),
      tick: (value) => percent(value, 0), width: 520,
      rows: order.slice(0, 20).map((one) => ({ name: one.name, note: note(one),
        bars: [{ value: one.utilisation, text: percent(one.utilisation),
          colour: category(binding.has(one.name) ? 5 : 0) }] })) });
    const entries = [{ colour: category(0), text: "used share of the run" }];
    if (order.some((one) => binding.has(one.name)))
      entries.push({ colour: category(5), text: "also decides the lower bound" });
    legend(made.node(), entries);
    if (order.length <= 20) return;
    const more = made.append("details");
    more.append("summary").text(`All ${grouped(order.length)}`);
    more.on("toggle", () => {
      if (more.select("table").empty())
        table(more.node(), [{ name: "resource", value: (one) => one.name },
          { name: "used", value: (one) => one.utilisation, text: (one) => percent(one.utilisation) },
          { name: "carried", value: (one) => one.bytes, text: (one) => bytes(Math.round(one.bytes)) }],
          order, { most: kMostRows });
    });
  };

  // Spans of a run in which no step holds an engine: [[start, end], ...] in microseconds.
  const idleSpans = (steps, end) => {
    const spans = [];
    let free = 0;
    for (const step of steps.slice().sort((a, b) => a.start_us - b.start_us)) {
      if (step.start_us > free + 1e-9 * end) spans.push([free, step.start_us]);
      free = Math.max(free, step.end_us);
    }
    if (free < end * (1 - 1e-9)) spans.push([free, end]);
    return spans;
  };
  const engineSection = (root, state) => {
    const of = new Map();
    for (const step of state.all)
      for (const engine of step.engines || []) of.set(engine, [...(of.get(engine) || []), step]);
    if (of.size === 0) return;
    const rows = [...of].map(([name, steps]) => {
      const idle = idleSpans(steps, state.end);
      const longest = idle.slice().sort((a, b) => b[1] - b[0] - (a[1] - a[0]))[0];
      return { name, steps: steps.length, idle: d3.sum(idle, (span) => span[1] - span[0]), longest };
    }).sort((a, b) => byName(a.name, b.name));
    const made = section(root, "Engines",
      "Copy engines of GPUs, cores and the like, which steps hold one after another. Idle: no step holds one.");
    table(made.node(), [
      { name: "engine", value: (row) => row.name },
      { name: "steps", value: (row) => row.steps, text: (row) => grouped(row.steps) },
      { name: "idle", value: (row) => row.idle, text: (row) => time(row.idle) || "never" },
      { name: "of the run", value: (row) => row.idle / state.end, text: (row) => percent(row.idle / state.end) },
      { name: "longest idle from", value: (row) => (row.longest || [])[0],
        text: (row) => (row.longest ? time(row.longest[0]) || "0 us" : "") },
      { name: "to", value: (row) => (row.longest || [])[1], text: (row) => (row.longest ? time(row.longest[1]) : "") },
    ], rows, { most: kMostRows });
  };

  // What resources can carry, in bytes per microsecond, from what they carried and how busy that made them.
  const capacitiesOf = (result) => new Map(result.resources.filter((one) => one.utilisation > 0)
    .map((one) => [one.name, one.bytes / (one.utilisation * result.makespan_us)]));
  // Load at one moment, of the steps under way at their mean rates.
  const loadAt = (result, capacities, moment) => {
    const load = {};
    for (const step of result.steps) {
      if (step.start_us > moment || moment >= step.end_us || step.demand === undefined) continue;
      const perTime = step.bytes / duration(step);
      for (const [name, weight] of Object.entries(result.demands[step.demand]))
        if (capacities.has(name)) load[name] = (load[name] || 0) + (weight * perTime) / capacities.get(name);
    }
    for (const name of Object.keys(load)) load[name] = Math.min(1, load[name]);
    return load;
  };

  // A machine, or of a cluster that of one node at a time: first of the node with the busiest resource. `changed` gets
  // the drawing whenever it is made anew.
  const drawLoaded = (root, result, machine, changed) => {
    if (!machine.machines) {
      changed(lanewise.drawMachine(root, machine));
      return true;
    }
    const kinds = d3.merge(machine.machines.map((kind) => (kind.nodes || [])
      .map((node) => ({ node, machine: kind.machine }))));
    const sum = (kind) => d3.sum(result.resources.filter((one) => one.name.startsWith(`${kind.node}/`)),
      (one) => one.utilisation);
    const sums = new Map(kinds.map((kind) => [kind.node, sum(kind)]));
    const busiest = kinds.slice().sort((a, b) => sums.get(b.node) - sums.get(a.node))[0];
    if (!busiest || typeof busiest.machine !== "object") return false;
    const controls = d3.select(root).append("p");
    const space = d3.select(root).append("div");
    const draw = (name) => {
      space.selectAll("*").remove();
      changed(lanewise.drawMachine(space.node(), kinds.find((kind) => kind.node === name).machine,
        { prefix: `${name}/` }));
    };
    choice(controls.node(), "node", kinds.map((kind) => ({ value: kind.node, text: kind.node })), busiest.node, draw);
    draw(busiest.node);
    return true;
  };

  // Load over the whole run, or at the moment of the slider. Gives what to call when that moves.
  const loadSection = (root, result, machine, moment) => {
    const nothing = () => {};
    if (!machine || !result.resources || result.resources.length === 0) return nothing;
    const made = section(root, "Load of the machine's parts",
      "Colour shows the busier direction of each part.");
    const whole = {};
    for (const one of result.resources) whole[one.name] = one.utilisation;
    const capacities = capacitiesOf(result);
    let isAtMoment = false;
    let drawing = null;
    let at = moment;
    const controls = made.append("p").attr("class", "no-print");
    const says = made.append("p").attr("class", "note").attr("role", "status");
    const paint = () => {
      says.text(isAtMoment ? `At ${time(at) || "0 us"}.` : "Over the whole run.");
      if (drawing) drawing.update({ load: isAtMoment ? loadAt(result, capacities, at) : whole });
    };
    const isDrawn = drawLoaded(made.node(), result, machine, (drawn) => {
      drawing = drawn;
      paint();
    });
    if (!isDrawn) {
      made.remove();
      return nothing;
    }
    if (!result.demands) {
      controls.remove();
      return nothing;
    }
    choice(controls.node(), "load", [{ value: "run", text: "over the whole run" },
      { value: "moment", text: "at the moment of the slider" }], "run", (value) => {
      isAtMoment = value === "moment";
      paint();
    });
    return (now) => {
      at = now;
      if (isAtMoment) paint();
    };
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
      .map((value) => ({ value, text: rowKinds[value].text }));
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
    let view = null;
    let slider = null;
    const now = moment.append("div");
    const stepsMade = section(root, "Steps", "The text above filters this table too.");
    const steps = stepsMade.append("div");
    const changeMoment = (at, isBySlider) => {
      state.moment = Math.max(0, Math.min(state.end, at));
      view.moment = state.moment;
      if (!isBySlider) slider.property("value", (1000 * state.moment) / state.end);
      drawCursor(view);
      drawMoment(now.node(), state);
      moved(state.moment);
    };
    const draw = () => {
      lanewise.hideTip();
      state.colours = coloursOf(state.all, colourings[state.colour]);
      colours.selectAll("*").remove();
      legend(colours.node(), state.colours.entries);
      canvas.selectAll("*").remove();
      view = makeTimeline(canvas.node(), state, changeMoment);
      if (state.shown.length === 0) canvas.insert("p", "*").text("No step holds this.");
      zoomButtons(colours.select(".legend").node(), view);
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
