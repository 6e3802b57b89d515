// Draws accuracy/1 (lanewise accuracy): predictions against measurements, by class and by file, and the worst points.
{
  const { section, facts, legend, table, time, bytes, percent, category, grouped, isThere, isRate, figure,
    figureText } = lanewise;
  const shareText = (share) => (isThere(share) ? percent(share) : "");

  // ---------------------------------------------------------------------------------- figures of a point
  const describe = (point) => {
    const text = (name) => figureText(point, figure(point, name));
    const lines = [point.measurement, `${point.series}: ${point.transfer}, ${bytes(point.bytes)}`, point.group,
      `measured ${text("measured")}, predicted ${text("predicted")}: error ${percent(point.error)}`,
      `90 % range ${figure(point, "interval").map((value) => figureText(point, value)).join(" to ")}: `
        + (point.in_interval ? "holds it" : "DOES NOT HOLD IT"),
      `decided by ${point.binding}`];
    if (isThere(point.noise))
      lines.push(`noise ${percent(point.noise)}${point.within_noise ? ", the error is within it" : ""}`);
    if (point.doubtful) lines.push(`left out: ${point.doubtful}`);
    return lines.join("\n");
  };
  const mechanismOf = (point) => point.group.replace(/ (LL|LL128|Simple)$/, "")
    .replace(/ (NV\d+|PIX|PXB|PHB|NODE|SYS|X|C2C)$/, "");
  const holdingOf = (point) => (point.in_interval ? "inside the 90 % range" : "outside it");

  // ---------------------------------------------------------------------------------- the plot of all points
  const quantities = {
    bandwidth: { text: "rates", unit: "GB/s", isIn: isRate },
    makespan: { text: "times of collectives and sets", unit: "us", isIn: (point) => point.quantity === "makespan" },
    latency: { text: "latencies", unit: "us", isIn: (point) => point.quantity === "latency" },
  };
  // What the plot's axes are. The line is where predicted and measured figures are equal, the dashed ones a factor of
  // 2 off.
  const plain = (value) => grouped(+value.toPrecision(3));
  const kindsOfAxes = {
    both: { text: "predicted against measured", along: (point) => figure(point, "measured"),
      up: (point) => figure(point, "predicted"),
      equal: (along, factor) => along * factor, isSquare: true,
      alongTick: (quantity) => (quantity.unit === "us" ? time : plain),
        upTick: (quantity) => (quantity.unit === "us" ? time : plain),
      alongName: (quantity) => `measured${quantity.unit === "us" ? "" : `, ${quantity.unit}`}`,
      upName: (quantity) => `predicted${quantity.unit === "us" ? "" : `, ${quantity.unit}`}` },
    size: { text: "predicted / measured, by size", along: (point) => Math.max(1, point.bytes),
      up: (point) => figure(point, "predicted") / figure(point, "measured"), equal: (along, factor) => factor,
      alongTick: () => (value) => bytes(Math.round(value)), upTick: () => (value) => `${plain(value)} x`,
      alongName: () => "size of the transfer", upName: () => "predicted / measured" },
  };
  const kLeft = 84;
  const kSide = 640;
  const kBottom = 40;

  // Dots, or crosses where the 90 % range does not hold the measured figure: shape and colour tell the same.
  const drawMarks = (plot) => {
    const { brush, x, y } = plot;
    brush.clearRect(0, 0, kLeft + kSide + 20, kSide + kBottom + 10);
    brush.save();
    brush.beginPath();
    brush.rect(kLeft, 4, kSide, kSide);
    brush.clip();
    brush.globalAlpha = plot.points.length > 800 ? 0.6 : 0.9;
    brush.lineWidth = 1.5;
    for (const point of plot.points) {
      const [across, down] = [x(point.along), y(point.up)];
      brush.fillStyle = brush.strokeStyle = plot.colours.of(point);
      brush.beginPath();
      if (point.in_interval) {
        brush.arc(across, down, 2.6, 0, 2 * Math.PI);
        brush.fill();
        continue;
      }
      brush.moveTo(across - 3.2, down - 3.2);
      brush.lineTo(across + 3.2, down + 3.2);
      brush.moveTo(across - 3.2, down + 3.2);
      brush.lineTo(across + 3.2, down - 3.2);
      brush.stroke();
    }
    brush.restore();
  };

  const drawLines = (plot) => {
    const [low, high] = plot.wholeX.domain();
    const { equal } = plot.axes;
    const across = (factor) => `M${plot.x(low)},${plot.y(equal(low, factor))}`
      + `L${plot.x(high)},${plot.y(equal(high, factor))}`;
    plot.over.select(".equal").attr("d", across(1));
    plot.over.select(".twice").attr("d", across(2) + across(0.5));
  };

  // Within one decade d3 has few ticks of a logarithmic axis, so that equal steps serve better.
  const logAxis = (axis, count, text) => {
    const [low, high] = axis.scale().domain();
    axis.tickSizeOuter(0);
    return high / low < 8 ? axis.tickValues(d3.ticks(low, high, count)).tickFormat(text) : axis.ticks(count, text);
  };
  const powersOfTwo = ([low, high]) => {
    const [first, last] = [Math.ceil(Math.log2(low)), Math.floor(Math.log2(high))];
    const step = Math.max(1, Math.ceil((last - first) / 10));
    return d3.range(step * Math.ceil(first / step), last + 1, step).map((power) => 2 ** power);
  };

  const drawPlot = (plot) => {
    const { quantity, axes } = plot;
    plot.over.select(".across").call(axes === kindsOfAxes.size  // powers of two read better than those of ten
      ? d3.axisBottom(plot.x).tickValues(powersOfTwo(plot.x.domain())).tickFormat(axes.alongTick()).tickSizeOuter(0)
      : logAxis(d3.axisBottom(plot.x), 6, axes.alongTick(quantity)));
    plot.over.select(".up").call(logAxis(d3.axisLeft(plot.y), 8, axes.upTick(quantity)));
    drawLines(plot);
    drawMarks(plot);
    placeCursor(plot);
  };

  const placeCursor = (plot) => {
    const point = plot.selected;
    const cursor = plot.over.select(".cursor").style("display", point ? null : "none");
    if (point) cursor.attr("transform", `translate(${plot.x(point.along)},${plot.y(point.up)})`);
  };
  const select = (plot, point) => {
    plot.selected = point;
    placeCursor(plot);
    if (!point) return lanewise.hideTip();
    lanewise.tipAt(lanewise.inWindow(plot.over, plot.x(point.along), plot.y(point.up)), describe(point));
  };

  // The nearest point within a few pixels. Distances are those on the page, however far it is zoomed.
  const nearest = (plot, across, down) => {
    let best = null;
    let closest = 100;
    for (const point of plot.points) {
      const apart = (plot.x(point.along) - across) ** 2 + (plot.y(point.up) - down) ** 2;
      if (apart >= closest) continue;
      closest = apart;
      best = point;
    }
    return best;
  };

  const makeMovable = (plot) => {
    const whole = [[kLeft, 4], [kLeft + kSide, 4 + kSide]];
    const zoom = d3.zoom().scaleExtent([1, 100]).extent(whole).translateExtent(whole).filter(lanewise.zoomFilter)
      .on("zoom", () => {
      plot.x = d3.event.transform.rescaleX(plot.wholeX);
      plot.y = d3.event.transform.rescaleY(plot.wholeY);
      drawPlot(plot);
    });
    const byError = plot.points.slice().sort((a, b) => b.error - a.error);
    const byPlace = plot.points.slice().sort((a, b) => a.along - b.along || a.up - b.up);
    const beside = (order, step) => {
      const now = order.indexOf(plot.selected);
      return order[now < 0 ? 0 : Math.max(0, Math.min(order.length - 1, now + step))];
    };
    plot.over.call(zoom)
      .on("mousemove", function () { select(plot, nearest(plot, ...d3.mouse(this))); })
      .on("mouseleave", () => select(plot, null)).on("blur", () => lanewise.hideTip())
      .on("keydown", () => {
        const { key } = d3.event;
        if (key === "ArrowLeft" || key === "ArrowRight") select(plot, beside(byPlace, key === "ArrowLeft" ? -1 : 1));
        else if (key === "ArrowUp" || key === "ArrowDown") select(plot, beside(byError, key === "ArrowUp" ? -1 : 1));
        else if (key === "Escape") select(plot, null);
        else if (!lanewise.zoomByKey(key, zoom, plot.over,
          plot.selected && [plot.x(plot.selected.along), plot.y(plot.selected.up)])) return;
        d3.event.preventDefault();
      });
  };

  const axisTexts = (over, quantity, axes) => {
    over.append("text").attr("text-anchor", "middle").attr("x", kLeft + kSide / 2).attr("y", kSide + kBottom)
      .text(axes.alongName(quantity));
    over.append("text").attr("text-anchor", "middle").attr("transform", `translate(14,${kSide / 2}) rotate(-90)`)
      .text(axes.upName(quantity));
  };

  // Both axes are the same where both are of one quantity.
  const scalesOf = (points, axes) => {
    // A factor of 4 at least: points of one size, say, still need an axis.
    const wide = ([low, high]) => [Math.min(low / 1.2, Math.sqrt(low * high) / 2),
      Math.max(high * 1.2, Math.sqrt(low * high) * 2)];
    const along = wide(d3.extent(points, (point) => point.along));
    const up = wide(d3.extent(points, (point) => point.up));
    const shared = [Math.min(along[0], up[0]), Math.max(along[1], up[1])];
    const scale = (domain, range) => d3.scaleLog().domain(axes.isSquare ? shared : domain).range(range);
    return { wholeX: scale(along, [kLeft, kLeft + kSide]), wholeY: scale(up, [4 + kSide, 4]) };
  };

  const makePlot = (root, points, quantity, axes, colours) => {
    const { brush, over } = lanewise.sharpCanvas(root, kLeft + kSide + 20, kSide + kBottom + 10,
      `${axes.text}: ${quantity.text}, ${grouped(points.length)} points. Left and right arrows go by the measured `
      + "figure, down and up from the worst error to smaller ones, plus and minus zoom, 0 shows all.");
    for (const point of points) {
      point.along = axes.along(point);
      point.up = axes.up(point);
    }
    const plot = { brush, over, points, quantity, axes, colours, ...scalesOf(points, axes), selected: null };
    plot.x = plot.wholeX;
    plot.y = plot.wholeY;
    over.append("clipPath").attr("id", "accuracy-plot").append("rect").attr("x", kLeft).attr("y", 4)
      .attr("width", kSide)
      .attr("height", kSide);
    over.append("rect").attr("x", kLeft).attr("y", 4).attr("width", kSide).attr("height", kSide)
      .style("fill", "transparent").style("stroke", "var(--line)");
    over.append("g").attr("class", "axis across").attr("transform", `translate(0,${4 + kSide})`);
    over.append("g").attr("class", "axis up").attr("transform", `translate(${kLeft},0)`);
    const inside = over.append("g").attr("clip-path", "url(#accuracy-plot)").attr("pointer-events", "none");
    inside.append("path").attr("class", "equal").attr("fill", "none").style("stroke", "var(--ink)");
    inside.append("path").attr("class", "twice").attr("fill", "none").style("stroke", "var(--faint)")
      .attr("stroke-dasharray", "5 4");
    const cursor = inside.append("g").attr("class", "cursor").style("display", "none");
    for (const [colour, width] of [["#000", 4], ["#fff", 2]])
      cursor.append("circle").attr("r", 7).attr("fill", "none").attr("stroke", colour).attr("stroke-width", width);
    axisTexts(over, quantity, axes);
    makeMovable(plot);
    drawPlot(plot);
  };

  // ---------------------------------------------------------------------------------- which points are shown
  const colourings = {
    range: { text: "90 % range", of: holdingOf }, mechanism: { text: "mechanism or algorithm", of: mechanismOf },
    generation: { text: "generation", of: (point) => point.generation },
      at_once: { text: "how many at once", of: (point) => point.at_once },
    gate: { text: "counted or left out", of: (point) => (point.in_gate ? "counted" : "left out") },
  };
  const coloursOf = (points, coloured) => {
    if (coloured !== "range") return lanewise.coloursOf(points, colourings[coloured].of);
    const count = (isIn) => grouped(points.filter((point) => point.in_interval === isIn).length);
    return { of: (point) => category(point.in_interval ? 0 : 5), entries: [
      { colour: category(0), text: `\u25cf ${holdingOf({ in_interval: true })} (${count(true)})` },
      { colour: category(5), text: `\u00d7 ${holdingOf({})} (${count(false)})` }] };
  };

  const plotFacts = (root, points) => {
    if (points.length === 0) return;
    const errors = points.map((point) => point.error).sort(d3.ascending);
    const held = points.filter((point) => point.in_interval).length;
    facts(root, [["points", grouped(points.length)], ["median error", percent(d3.median(errors))],
      ["95 % of errors below", percent(d3.quantile(errors, 0.95))],
      ["inside the 90 % ranges", percent(held / points.length)]]);
  };

  // Returns a function that shows the points of one file, or of all.
  const plotSection = (root, all) => {
    const made = section(root, "Predicted against measured",
      "On the line both are equal; between the dashed lines they differ by less than a factor of 2. Drag moves, Ctrl "
      + "or Shift and the wheel zoom. With the keyboard: left and right go along the axis, down from the worst error "
      + "to smaller ones, + and - zoom.");
    const state = { quantity: Object.keys(quantities).find((key) => all.some(quantities[key].isIn)), axes: "both",
      colour: "range", counted: "counted", wanted: "" };
    const controls = made.append("p").attr("class", "no-print");
    const space = made.append("div");
    const draw = () => {
      lanewise.hideTip();
      space.selectAll("*").remove();
      const quantity = quantities[state.quantity];
      const points = all.filter((point) => quantity.isIn(point)
        && (state.counted === "all" || point.in_gate === (state.counted === "counted"))
        && lanewise.holds(point.words, state.wanted));
      plotFacts(space.node(), points);
      if (points.length === 0) return space.append("p").text("No such point.");
      const colours = coloursOf(points, state.colour);
      legend(space.node(), colours.entries);
      makePlot(space.node(), points, quantity, kindsOfAxes[state.axes], colours);
    };
    const change = (key) => (value) => { state[key] = value; draw(); };
    const usable = (one, key) => one[key] && all.some((point) => isThere(one[key].of(point)));
    lanewise.choice(controls.node(), "show", Object.keys(quantities).filter((key) => all.some(quantities[key].isIn))
      .map((value) => ({ value, text: quantities[value].text })), state.quantity, change("quantity"));
    lanewise.choice(controls.node(), "as", Object.keys(kindsOfAxes)
      .map((value) => ({ value, text: kindsOfAxes[value].text })), state.axes, change("axes"));
    lanewise.choice(controls.node(), "colour by", Object.keys(colourings).filter((key) => usable(colourings, key))
      .map((value) => ({ value, text: colourings[value].text })), state.colour, change("colour"));
    lanewise.choice(controls.node(), "points", ["counted", "left out", "all"].map((value) => ({ value, text: value })),
      state.counted, change("counted"));
    let waiting = 0;
    const search = controls.append("label").text("that hold ").append("input").attr("type", "search")
      .on("input", function () {
      clearTimeout(waiting);
      waiting = setTimeout(() => change("wanted")(this.value.toLowerCase()), 150);
    });
    draw();
    return (file, quantity) => {
      search.property("value", file);
      state.quantity = quantity;
      state.counted = "all";
      controls.selectAll("select").each(function () {
        for (const value of [quantity,
          "all"]) if ([...this.options].some((option) => option.value === value)) this.value = value;
      });
      change("wanted")(file.toLowerCase());
      made.node().scrollIntoView();
    };
  };

  // ---------------------------------------------------------------------------------- errors by class
  const kNames = 250;
  const kError = [kNames, kNames + 420];
  const kCovered = [kError[1] + 90, kError[1] + 290];

  const classAxes = (drawn, errors, covered, height) => {
    const texts = [[kError[0], "error: \u25cf median, | 95 % below, \u2013 to the worst"],
      [kCovered[0], "inside the 90 % ranges"]];
    drawn.selectAll("text.head").data(texts).enter().append("text").attr("class", "head").attr("x", ([x]) => x)
      .attr("y", 12).text(([, text]) => text);
    const ticks = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2,
      5].filter((tick) => tick >= errors.domain()[0] && tick <= errors.domain()[1]);
    const top = drawn.append("g").attr("class", "axis").attr("transform", "translate(0,40)");
    top.call(d3.axisTop(errors).tickValues(ticks).tickFormat((share) => percent(share, share < 0.01 ? 1 : 0))
      .tickSizeOuter(0));
    drawn.append("g").attr("class", "axis").attr("transform", "translate(0,40)")
      .call(d3.axisTop(covered).ticks(5).tickFormat((share) => percent(share, 0)).tickSizeOuter(0));
    drawn.append("line").attr("x1", covered(0.9)).attr("x2", covered(0.9)).attr("y1", 40).attr("y2", height)
      .style("stroke", "var(--ink)").attr("stroke-dasharray", "4 3");
  };

  const classPlot = (root, rows) => {
    const height = 46 + rows.length * 20 + 4;
    const low = d3.min(rows, (row) => row.errors.median_error) || 0.001;
    const errors = d3.scaleLog().domain(
      [Math.max(1e-4, low) * 0.7, d3.max(rows, (row) => row.errors.worst_error) * 1.2])
      .range(kError).clamp(true);
    const covered = d3.scaleLinear().domain([Math.min(0.5, d3.min(rows, (row) => row.interval_coverage)), 1])
      .range(kCovered);
    const drawn = lanewise.svg(root, kCovered[1] + 80, height, "errors and coverage by class");
    classAxes(drawn, errors, covered, height);
    const groups = drawn.selectAll("g.row").data(rows).enter().append("g").attr("class", "row").attr("role", "img")
      .attr("transform", (row, i) => `translate(0,${46 + i * 20})`);
    groups.append("rect").attr("width", kCovered[1] + 80).attr("height", 20).style("fill", "transparent");
    groups.append("text").attr("x", kNames - 12).attr("y", 14).attr("text-anchor", "end").text((row) => row.name);
    groups.append("path").attr("fill", "none").style("stroke", "var(--faint)")
      .attr("d", (row) => `M${errors(row.errors.median_error)},10H${errors(row.errors.worst_error)}`);
    groups.append("path").attr("fill", "none").style("stroke", category(0)).attr("stroke-width", 2.5)
      .attr("d", (row) => `M${errors(row.errors.median_error)},10H${errors(row.errors.p95_error)}m0,-5v10`);
    groups.append("circle").attr("r", 4.5).attr("cy", 10).attr("cx", (row) => errors(row.errors.median_error))
      .style("fill", category(0));
    groups.append("text").attr("class", "label-faint").attr("x", kError[1] + 10).attr("y", 14)
      .text((row) => grouped(row.errors.points));
    const isLow = (row) => row.interval_coverage < 0.9;
    groups.append("path").attr("d", (row) => d3.symbol().type(isLow(row) ? d3.symbolTriangle : d3.symbolCircle)
      .size(60)())
      .attr("transform", (row) => `translate(${covered(row.interval_coverage)},10)`)
      .style("fill", (row) => category(isLow(row) ? 5 : 0));
    groups.append("text").attr("x", kCovered[1] + 12).attr("y", 14).text((row) => percent(row.interval_coverage));
    lanewise.withTip(groups, (row) => `${row.name}: ${grouped(row.errors.points)} points\n`
      + `median error ${percent(row.errors.median_error)}, 95 % below ${percent(row.errors.p95_error)}, `
      + `worst ${percent(row.errors.worst_error)}\ninside the 90 % ranges: ${percent(row.interval_coverage)}`);
  };

  const classSection = (root, result) => {
    if (!result.classes || result.classes.length === 0) return;
    const made = section(root, "Errors by generation and class",
      "The number is that of points. Ranges should hold 90 % of the measured figures, of all quantities of a class.");
    const controls = made.append("p");
    const space = made.append("div");
    const draw = (kind) => {
      space.selectAll("*").remove();
      const named = (one, name) => ({ ...one, name, errors: one[kind] });
      const rows = [...(result.at_once || []).map((one) => named(one, `all: ${one.at_once}`)),
        ...result.classes.map((one) => named(one, `${one.generation}: ${one.at_once}`))]
          .filter((row) => row.errors.points > 0);
      if (rows.length > 0) classPlot(space.node(), rows);
      else space.append("p").text("No such point.");
    };
    lanewise.choice(controls.node(), "errors of",
      [{ value: "times", text: "rates and times" }, { value: "latency", text: "latencies" }], "times", draw);
    draw("times");
  };

  // ---------------------------------------------------------------------------------- tables
  const worstSection = (root, result) => {
    const made = section(root, "Worst points");
    const controls = made.append("p").attr("class", "no-print");
    const space = made.append("div");
    const draw = (which) => {
      space.selectAll("*").remove();
      const points = result.points.filter((point) => isThere(point.error) && (which === "all" || point.in_gate))
        .sort((a, b) => b.error - a.error).slice(0, 100);
      table(space.node(), [
        { name: "error", value: (point) => point.error, text: (point) => percent(point.error) },
        { name: "measurement", value: (point) => point.measurement },
        { name: "series", value: (point) => point.series },
        { name: "transfer", value: (point) => point.transfer }, { name: "by", value: (point) => point.group },
        { name: "size", value: (point) => point.bytes, text: (point) => bytes(point.bytes) },
        { name: "measured", value: (point) => figure(point, "measured"),
          text: (point) => figureText(point, figure(point, "measured")) },
        { name: "predicted", value: (point) => figure(point, "predicted"),
          text: (point) => figureText(point, figure(point, "predicted")) },
        { name: "in range", value: (point) => (point.in_interval ? "yes" : "NO") },
        { name: "decided by", value: (point) => point.binding, wrap: true },
        ...(which === "all" ? [{ name: "left out because", value: (point) => point.doubtful, wrap: true }] : []),
        { name: "line", value: (point) => point.line },
      ], points, { caption: "The 100 largest errors" });
    };
    lanewise.choice(controls.node(), "points",
      [{ value: "counted", text: "counted" }, { value: "all", text: "with those left out" }], "counted", draw);
    draw("counted");
  };

  const fileSection = (root, result, show) => {
    const made = section(root, "Measurements",
      "Enter or a click on a row shows its points above. Grade: how well its source is known.");
    const points = (file) => ["bandwidth", "latency", "makespan", "collective"].map((key) => file.summary[key].points);
    const main = (file) => ["bandwidth", "collective", "makespan", "latency"]
      .find((key) => file.summary[key].points > 0)
      || "bandwidth";
    const error = (name) => ({ value: (file) => file.summary[main(file)][name],
      text: (file) => shareText(file.summary[main(file)][name]) });
    const coverage = (file) => (isThere(file.summary.interval_coverage) ? file.summary.interval_coverage
      : file.summary.collective_coverage);
    table(made.node(), [
      { name: "measurement", value: (file) => file.measurement }, { name: "machine", value: (file) => file.machine },
      { name: "grade", value: (file) => file.grade }, { name: "points", value: (file) => d3.sum(points(file)) },
      { name: "left out", value: (file) => file.summary.left_out }, { name: "errors of", value: main },
      { name: "median", ...error("median_error") }, { name: "95 % below", ...error("p95_error") },
      { name: "worst", ...error("worst_error") },
      { name: "in ranges", value: coverage, text: (file) => shareText(coverage(file)) },
      { name: "source", value: (file) => file.source, wrap: true },
    ], result.files, { onRow: (file) => show(file.measurement,
      main(file) === "collective" ? "makespan" : main(file)) });
  };

  const factSection = (root, result) => {
    const wrong = result.facts.filter((fact) => !fact.agrees);
    if (result.facts.length === 0) return;
    const made = section(root, "What works and what does not",
      `${grouped(result.facts.length - wrong.length)} of ${grouped(result.facts.length)} statements about what is `
      + "possible or faster agree.");
    if (wrong.length > 0)
      table(made.node(), [{ name: "measurement", value: (fact) => fact.measurement },
        { name: "measured", value: (fact) => fact.what, wrap: true },
        { name: "predicted", value: (fact) => fact.found, wrap: true },
        { name: "counted", value: (fact) => (fact.in_gate ? "yes" : "no") },
        { name: "line", value: (fact) => fact.line }], wrong, { caption: "Those that do not" });
  };

  lanewise.view("accuracy/1", (root, result) => {
    const { summary } = result;
    const made = section(root, "Predictions against measurements",
      "An error is |predicted - measured| / measured. Counted are points that nothing makes doubtful and that no "
      + "figure was fitted to.");
    const pairs = [["measurements", grouped(result.files.length)], ["points", grouped(result.points.length)],
      ["left out", grouped(summary.left_out)]];
    const names = { bandwidth: "rates", latency: "latencies", makespan: "several at once", collective: "collectives" };
    for (const key of Object.keys(names))
      if (summary[key].points > 0) pairs.push([`median error, ${names[key]}`, percent(summary[key].median_error)]);
    if (isThere(summary.interval_coverage)) pairs.push(["inside the 90 % ranges", percent(summary.interval_coverage)]);
    if (isThere(summary.collective_coverage))
      pairs.push(["the same of collectives", percent(summary.collective_coverage)]);
    if (isThere(summary.legality_agreement))
      pairs.push(["what is possible agrees", percent(summary.legality_agreement)]);
    if (summary.noise.points > 0) pairs.push(["errors within noise",
      `${grouped(summary.within_noise)} of ${grouped(summary.noise.points)}`]);
    facts(made.node(), pairs);
    const points = result.points.filter((point) => isThere(point.error) && figure(point, "measured") > 0
      && figure(point, "predicted") > 0);
    for (const point of points)
      point.words = `${point.measurement} ${point.series} ${point.transfer} ${point.group}`.toLowerCase();
    const show = points.length > 0 ? plotSection(root, points) : () => {};
    classSection(root, result);
    worstSection(root, result);
    fileSection(root, result, show);
    factSection(root, result);
  });
}
