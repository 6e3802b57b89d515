// The timeline of a run: each step as a bar in the row of its sender, receiver, transfer or engine, and below them the
// total rate. It is zoomed and moved, and its steps are gone through by keys.
{
  const { time, rate, inkOn, widthOf, fitText, sharpCanvas, inWindow, zoomFilter, zoomByKey } = lanewise;
  const { plural, timeUnit, byName } = lanewise;
  const { endsOf, rateBetween, describe } = lanewise.steps;

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

  const addLayers = (over, width, height) => {
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
  };

  // A timeline of these steps in a new canvas: how many lanes there are sets how high it is.
  // state: {all and shown: steps by start, rows: one of rowKinds, colours, end and moment in microseconds}
  // Returns {showMoment: (us) => ..., addButtons: (element) => adds what zooms}.
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
    addLayers(over, width, height);
    makeMovable(view, pickMoment);
    drawRowNames(view);
    drawTimeline(view);
    const showMoment = (at) => {
      view.moment = at;
      drawCursor(view);
    };
    return { showMoment, addButtons: (bar) => zoomButtons(bar, view) };
  };

  lanewise.timeline = { rowKinds, make: makeTimeline };
}
