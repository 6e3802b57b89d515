// Draws judgement/1 (lanewise judge): measured figures against the predicted ones, graded, and what may be wrong.
{
  const { section, facts, legend, table, bytes, percent, rounded, grouped, plural, isThere, isRate, figure,
    figureText } = lanewise;

  // ---------------------------------------------------------------------------------- grades
  // Every grade has a shape of its own, so that none depends on its colour.
  const grades = {
    fail: { colour: "var(--bad)", shape: d3.symbolCross, mark: "\u2717", order: 0 },
    warn: { colour: "var(--warn)", shape: d3.symbolTriangle, mark: "\u25b2", order: 1 },
    pass: { colour: "var(--good)", shape: d3.symbolCircle, mark: "\u2713", order: 2 },
  };
  const gradeOf = (point) => grades[point.grade]
    || { colour: "var(--faint)", shape: d3.symbolSquare, mark: "\u25a0", order: 3 };
  const shapeOf = (grade, size) => {
    const drawn = d3.symbol().type(grade.shape).size(size)();
    return { d: drawn, turn: grade.shape === d3.symbolCross ? 45 : 0 };
  };
  const gradeLegend = (root, points) => {
    const list = legend(root, []);
    for (const name of Object.keys(grades)) {
      const one = list.append("span");
      const shape = shapeOf(grades[name], 70);
      one.append("svg").attr("width", 16).attr("height", 14).style("display", "inline-block")
        .style("vertical-align", "-2px")
        .append("path").attr("transform", `translate(8,7) rotate(${shape.turn})`).attr("d", shape.d)
        .style("fill", grades[name].colour);
      one.append("span").text(`${name} (${points.filter((point) => point.grade === name).length})`);
    }
    list.append("span").text("\u2014 90 % range of the prediction; the dashed line is the prediction");
  };

  // ---------------------------------------------------------------------------------- figures of a point
  // How fast it is, in terms of the prediction: more is better, whether rates or times were measured.
  const relative = (point, value) => (isRate(point) ? value / figure(point, "predicted")
    : figure(point, "predicted") / value);
  const rangeOf = (point) => (figure(point, "interval") || []).map((value) => relative(point, value))
    .sort(d3.ascending);
  const speedOf = (point) => relative(point, figure(point, "measured"));
  const hasPrediction = (point) => isThere(figure(point, "predicted"));

  const describe = (point) => {
    const lines = [`${point.grade}: ${point.series}`, `${point.transfer}, ${bytes(point.bytes)}, ${point.quantity}`,
      `measured ${figureText(point, figure(point, "measured"))}`];
    if (hasPrediction(point)) {
      lines.push(`predicted ${figureText(point, figure(point, "predicted"))}, `
        + `90 % range ${figure(point, "interval").map((value) => figureText(point, value)).join(" to ")}`);
      lines.push(`${rounded(speedOf(point))} times as fast as predicted`);
    }
    if (point.library) lines.push(`the library: ${point.library}`);
    if (isThere(figure(point, "possible")))
      lines.push(`possible with the best plan: ${figureText(point, figure(point, "possible"))}`);
    if (isThere(point.noise)) lines.push(`noise: ${percent(point.noise)}`);
    if (isThere(point.cause)) lines.push(`explained by cause ${point.cause + 1}`);
    if (point.remark) lines.push(point.remark);
    return lines.join("\n");
  };

  // ---------------------------------------------------------------------------------- dots of a series
  const kRow = 17;
  const drawRows = (drawn, points, x, at) => {
    const rows = drawn.selectAll("g.row").data(points).enter().append("g").attr("class", "row").attr("role", "img")
      .attr("transform", (point, i) => `translate(0,${at.top + i * kRow})`);
    rows.append("rect").attr("width", at.width).attr("height", kRow).style("fill", "transparent");
    rows.append("text").attr("x", at.left - 10).attr("y", 13).attr("text-anchor", "end").text(at.name);
    rows.append("line").attr("y1", kRow / 2).attr("y2", kRow / 2).attr("stroke-width", 5).style("stroke", "var(--line)")
      .attr("stroke-linecap", "butt").attr("x1", (point) => x(rangeOf(point)[0]))
      .attr("x2", (point) => x(rangeOf(point)[1]));
    rows.filter((point) => isThere(figure(point, "possible"))).append("path")
      .attr("d", (point) => `M${x(relative(point, figure(point, "possible")))},3v${kRow - 6}`)
      .style("stroke", "var(--ink)").attr("stroke-width", 2);
    rows.append("path").attr("d", (point) => shapeOf(gradeOf(point), 64).d)
      .attr("transform", (point) => `translate(${x(speedOf(point))},${kRow / 2}) `
        + `rotate(${shapeOf(gradeOf(point), 64).turn})`)
      .style("fill", (point) => gradeOf(point).colour).style("stroke", "var(--ground)").attr("stroke-width", 0.8);
    rows.append("text").attr("x", at.right + 12).attr("y", 13).text((point) =>
      `${figureText(point, figure(point, "measured"))} of ${figureText(point, figure(point, "predicted"))}`);
    rows.append("text").attr("class", "label-faint").attr("x", at.right + 190).attr("y", 13)
      .text((point) => (isThere(point.cause) ? `cause ${point.cause + 1}` : ""));
    lanewise.withTip(rows, describe);
  };

  const dotPlot = (root, points, domain, left, name, label) => {
    const at = { left, right: left + 560, width: left + 560 + 260, top: 26, name };
    const height = at.top + points.length * kRow + 6;
    const x = d3.scaleLog().domain(domain).range([at.left, at.right]).clamp(true);
    const drawn = lanewise.svg(root, at.width, height, label);
    const ticks = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100]
      .filter((tick) => tick >= domain[0] && tick <= domain[1]);
    drawn.append("g").attr("class", "axis").attr("transform", `translate(0,${at.top - 4})`)
      .call(d3.axisTop(x).tickValues(ticks).tickFormat((tick) => `${rounded(tick).replace(/\.?0+$/, "")} x`)
        .tickSizeOuter(0));
    drawn.append("line").attr("x1", x(1)).attr("x2", x(1)).attr("y1", at.top - 4).attr("y2", height - 4)
      .style("stroke", "var(--ink)").attr("stroke-dasharray", "4 3");
    drawRows(drawn, points, x, at);
  };

  const kMostDots = 60;
  const isSame = (points, key) => new Set(points.map((point) => point[key])).size === 1;
  // What tells a point from the others of its series.
  const namesIn = (points) => {
    const isOneSize = isSame(points, "bytes");
    const isOneWay = isSame(points, "transfer");
    return (point) => [isOneWay && !isOneSize ? "" : point.transfer, isOneSize ? "" : bytes(point.bytes)]
      .filter(Boolean)
      .join(", ");
  };
  const drawSeries = (root, series, domain, left) => {
    const { key, values } = series;
    const bySize = isSame(values, "transfer") && !isSame(values, "bytes");  // a curve: its order tells more
    const worstFirst = values.slice().sort((a,
      b) => (bySize ? a.bytes - b.bytes : gradeOf(a).order - gradeOf(b).order || speedOf(a) - speedOf(b)));
    const count = (grade) => values.filter((point) => point.grade === grade).length;
    const made = d3.select(root).append("div");
    made.append("h3").style("margin", "1rem 0 .2rem").text(key);
    const first = values[0];
    made.append("p").attr("class", "note")
      .text(`${first.quantity}, ${isSame(values, "bytes") ? bytes(first.bytes) : "several sizes"}`
      + `${isSame(values, "transfer") ? `, ${first.transfer}` : ""}: `
      + Object.keys(grades).filter(count).map((grade) => `${count(grade)} ${grade}`).join(", "));
    const space = made.append("div");
    const draw = (isAll) => {
      space.selectAll("*").remove();
      const shown = isAll || bySize ? worstFirst : worstFirst.slice(0, kMostDots);
      dotPlot(space.node(), shown, domain, left, namesIn(values), `${key}: measured against predicted`);
      if (shown.length < worstFirst.length)
        space.append("button").attr("type", "button")
          .text(`show all ${grouped(worstFirst.length)}, not the worst ${kMostDots} only`)
          .on("click", () => draw(true));
    };
    draw(false);
  };

  const dotSection = (root, result) => {
    const points = result.points.filter(hasPrediction);
    if (points.length === 0) return;
    const made = section(root, "Measured against predicted",
      "To the left is slower than predicted, to the right faster, whether rates or times were measured. Worst first, "
      + "or by size.");
    gradeLegend(made.node(), points);
    if (points.some((point) => isThere(figure(point, "possible"))))
      made.append("p").attr("class", "note").text("| what the best plan would reach");
    const all = d3.merge(points.map((point) => [speedOf(point), ...rangeOf(point),
      isThere(figure(point, "possible")) ? Math.min(5, relative(point, figure(point, "possible"))) : 1]))
        .filter((value) => value > 0);
    const domain = [Math.min(0.7, d3.min(all) * 0.9), Math.max(1.4, d3.max(all) * 1.1)];
    const series = d3.nest().key((point) => point.series).entries(points);
    const worst = (one) => d3.min(one.values, (point) => gradeOf(point).order);
    const left = Math.min(320, d3.max(series,
      ({ values }) => d3.max(values, (point) => lanewise.widthOf(namesIn(values)(point)))) + 16);
    for (const one of series.sort((a, b) => worst(a) - worst(b))) drawSeries(made.node(), one, domain, left);
  };

  // ---------------------------------------------------------------------------------- causes
  const drawCause = (root, cause, i) => {
    const box = d3.select(root).append("div").style("border-left", "4px solid var(--bad)")
      .style("padding", ".2rem .8rem")
      .style("margin", ".6rem 0");
    box.append("h3").style("margin", 0).text(`${i + 1}. ${cause.text}`);
    const explained = [];
    if (cause.explained > 0) explained.push(plural(cause.explained, "figure", "figures"));
    if (cause.refusals > 0) explained.push(plural(cause.refusals, "refusal", "refusals"));
    const list = box.append("dl").style("margin", ".3rem 0").style("display", "grid")
      .style("grid-template-columns", "max-content 1fr").style("gap", ".1rem 1rem");
    const add = (term, text) => {
      if (!text) return;
      list.append("dt").style("color", "var(--faint)").text(term);
      list.append("dd").style("margin", 0).text(text);
    };
    add("look at", cause.check);
    add("explains", explained.join(" and "));
    add("as well possible", (cause.likewise || []).join(", "));
    add("predict it with", (cause.settings || []).map((setting) => `--set "${setting}"`).join(" "));
    for (const other of cause.also || []) add("or", `${other.text}${other.check ? `; look at: ${other.check}` : ""}`);
  };

  const causeSection = (root, result) => {
    if (result.causes.length === 0 && result.fail + result.warn === 0) return;
    const made = section(root, "What may be wrong");
    result.causes.forEach((cause, i) => drawCause(made.node(), cause, i));
    const wanting = result.points.filter((point) => point.grade !== "pass");
    const open = wanting.filter((point) => !isThere(point.cause)).length;
    if (result.causes.length === 0) made.append("p").text("No known cause explains what does not pass.");
    else if (open > 0)
      made.append("p").text(`${grouped(open)} of ${grouped(wanting.length)} figures that do not pass are explained by `
        + "none of them.");
  };

  // ---------------------------------------------------------------------------------- the page
  const gradeText = (one) => `${gradeOf(one).mark} ${one.grade}`;
  const pointTable = (root, result) => {
    const made = section(root, "All figures");
    const has = (isSo) => result.points.some(isSo);
    const sorted = result.points.slice()
      .sort((a, b) => gradeOf(a).order - gradeOf(b).order || (a.speed || 0) - (b.speed || 0));
    const kMost = 3000;
    table(made.node(), [
      { name: "grade", value: (point) => `${gradeOf(point).order}`, text: gradeText },
      { name: "series", value: (point) => point.series }, { name: "transfer", value: (point) => point.transfer },
      { name: "size", value: (point) => point.bytes, text: (point) => bytes(point.bytes) },
      { name: "quantity", value: (point) => point.quantity },
      { name: "measured", value: (point) => figure(point, "measured"),
        text: (point) => figureText(point, figure(point, "measured")) },
      { name: "predicted", value: (point) => figure(point, "predicted"),
        text: (point) => figureText(point, figure(point, "predicted")) || "none" },
      { name: "90 % range", value: (point) => (figure(point, "interval") || [])[0],
        text: (point) => (figure(point, "interval") || []).map((value) => figureText(point, value)).join(" to ") },
      { name: "speed / predicted", value: (point) => point.speed,
        text: (point) => (isThere(point.speed) ? percent(point.speed, 0) : "") },
      ...(has((point) => isThere(figure(point, "possible")))
        ? [{ name: "possible", value: (point) => figure(point, "possible"),
        text: (point) => figureText(point, figure(point, "possible")) }] : []),
      ...(has((point) => point.library) ? [{ name: "library", value: (point) => point.library, wrap: true }] : []),
      { name: "cause", value: (point) => (isThere(point.cause) ? point.cause + 1 : undefined) },
      ...(has((point) => point.remark) ? [{ name: "remark", value: (point) => point.remark, wrap: true }] : []),
      { name: "line", value: (point) => point.line },
    ], sorted, { most: kMost, caption: sorted.length > kMost ? "The worst first" : undefined });
  };

  const factSection = (root, result) => {
    if (result.facts.length === 0) return;
    const sorted = result.facts.slice().sort((a, b) => gradeOf(a).order - gradeOf(b).order);
    const failed = sorted.filter((fact) => fact.grade !== "pass").length;
    const made = section(root, "What works and what does not",
      failed === 0 ? `All ${grouped(sorted.length)} as predicted.`
        : `${grouped(failed)} of ${grouped(sorted.length)} otherwise than predicted.`);
    const details = made.append("details").property("open", failed > 0);
    details.append("summary").text(`All ${grouped(sorted.length)}`);
    table(details.node(), [{ name: "grade", value: (fact) => `${gradeOf(fact).order}`, text: gradeText },
      { name: "measured", value: (fact) => fact.what }, { name: "predicted", value: (fact) => fact.found, wrap: true },
      { name: "line", value: (fact) => fact.line }], sorted);
  };

  lanewise.view("judgement/1", (root, result) => {
    const made = section(root, `${result.measurement || "The measurement"} on ${result.machine}: ${gradeText(result)}`);
    // The warning's yellow is too light for text.
    if (result.grade !== "warn") made.select("h2").style("color", gradeOf(result).colour);
    const pairs = [["pass", grouped(result.pass)], ["warn", grouped(result.warn)], ["fail", grouped(result.fail)],
      ["causes", grouped(result.causes.length)]];
    if (result.left_out > 0) pairs.push(["left out", grouped(result.left_out)]);
    facts(made.node(), pairs);
    causeSection(root, result);
    dotSection(root, result);
    factSection(root, result);
    pointTable(root, result);
  });
}
