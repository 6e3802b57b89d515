// Pieces that several views draw with. A view calls them by lanewise.NAME; this file comes before all views.
{
  const { category, grouped, inkOn, rounded } = lanewise;

  // ---------------------------------------------------------------------------------- texts that fit
  const pen = document.createElement("canvas").getContext("2d");
  const textWidth = (text, size) => {
    pen.font = `${size}px system-ui, "DejaVu Sans", sans-serif`;
    return pen.measureText(text).width;
  };
  // As much of a text as this many pixels hold.
  const fitting = (text, width, size) => {
    if (textWidth(text, size) <= width) return text;
    let kept = text;
    while (kept && textWidth(`${kept}\u2026`, size) > width) kept = kept.slice(0, -1);
    return kept ? `${kept}\u2026` : "";
  };
  // A rim in the colour of the ground, so that a text on lines can be read.
  const halo = (text) => text.style("paint-order", "stroke").style("stroke", "var(--ground)")
    .style("stroke-width", "4px").style("stroke-linejoin", "round");
  lanewise.fitText = { textWidth, shortened: fitting, halo };

  // Pixels of a label, in the font that page.css gives to texts of a drawing.
  const widthOf = (text) => Math.ceil(textWidth(text || "", 12));
  lanewise.widthOf = widthOf;
  const widest = (texts) => d3.max(texts, widthOf) || 0;

  // ---------------------------------------------------------------------------------- choices and words
  // A labelled list. options: [{value, text}]; calls onChange with the value that is chosen.
  lanewise.choice = (root, label, options, chosen, onChange) => {
    const holder = d3.select(root).append("label").attr("class", "no-print").style("margin-right", "1.2rem");
    holder.append("span").text(`${label} `);
    const list = holder.append("select").on("change", function () { onChange(this.value); });
    list.selectAll("option").data(options).enter().append("option")
      .attr("value", (option) => option.value).text((option) => option.text)
      .property("selected", (option) => option.value === chosen);
    return list;
  };

  // "gpu1 > gpu3" also finds node0/gpu1 > node1/gpu3: words in this order, with anything between them.
  lanewise.holds = (text, wanted) => {
    let at = 0;
    for (const word of wanted.split(/\s+/).filter(Boolean)) {
      at = text.indexOf(word, at) + word.length;
      if (at < word.length) return false;
    }
    return true;
  };

  // Colours of the most frequent words; the others share grey.
  lanewise.coloursOf = (things, wordOf) => {
    const counts = d3.nest().key(wordOf).rollup((of) => of.length).entries(things).sort((a, b) => b.value - a.value);
    const usable = [0, 1, 2, 3, 4, 5, 7];  // 6 is grey
    const known = new Map(counts.slice(0, usable.length).map((entry, i) => [entry.key, category(usable[i])]));
    const entries = counts.slice(0, usable.length)
      .map((entry) => ({ colour: known.get(entry.key), text: `${entry.key} (${grouped(entry.value)})` }));
    if (counts.length > usable.length) entries.push({ colour: category(6), text: "others" });
    return { of: (thing) => known.get(wordOf(thing)) || category(6), entries };
  };

  // ---------------------------------------------------------------------------------- what changed
  // A ratio to what was before, in words. No words tell apart what no measurement does.
  lanewise.kNoDifference = 1.005;
  lanewise.isChange = (ratio) => Math.max(ratio, 1 / ratio) >= lanewise.kNoDifference;
  lanewise.changeText = (ratio) => (lanewise.isChange(ratio) ? `${rounded(ratio)} x` : "the same");
  // `harm`: how many times worse. Orange is worse, blue better; `most` times either way is the end of the scale.
  lanewise.changeColour = (harm, most) => {
    const share = Math.max(-1, Math.min(1, Math.log(harm) / Math.log(most)));
    return d3.interpolateRgb("#f2f2f2", share > 0 ? "#d55e00" : "#0072b2")(Math.abs(share));
  };
  lanewise.changeLegend = (root, most) => {
    const list = d3.select(root).append("div").attr("class", "legend");
    list.append("span").text(`worse, ${rounded(most)} x`);
    const stops = d3.range(1, -1.01, -0.2).map((power) => lanewise.changeColour(most ** power, most)).join(", ");
    list.append("span").attr("class", "swatch").style("width", "10rem")
      .style("background", `linear-gradient(to right, ${stops})`);
    list.append("span").text(`better, ${rounded(most)} x`);
    return list;
  };

  // ---------------------------------------------------------------------------------- bars
  const kMostNote = 100;  // characters; the tip and a table have the whole text
  const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 3)}...` : text);

  const endOf = (row) => d3.max([...row.bars.map((bar) => bar.value || 0), ...(row.whisker || [])]);

  // Where the columns of a bar chart stand: names, bars with their figures, notes.
  const barLayout = (chart) => {
    const most = chart.longestName || 60;
    const names = widest(chart.rows.map((row) => shortened(row.name, most))) + 12;
    const figures = widest(d3.merge(chart.rows.map((row) => row.bars.map((bar) => bar.text)))) + 20;
    const notes = widest(chart.rows.map((row) => shortened(row.note || "", kMostNote)));
    const plot = chart.width || 460;
    const high = chart.high || d3.max(chart.rows, endOf) || 1;
    const heights = chart.rows.map((row) => 10 + 13 * row.bars.length);
    return { most, names, plot, figures, heights, top: 22, tops: runningSum(heights),
      width: names + plot + figures + notes + 8, height: 22 + d3.sum(heights) + 6,
      x: d3.scaleLinear().domain([0, high]).range([names, names + plot]) };
  };
  const runningSum = (values) => {
    let sum = 0;
    return values.map((value) => (sum += value));
  };

  const barAxis = (drawn, chart, at) => {
    const bottom = at.height - 4;
    const tick = (value) => (value === 0 ? "0" : (chart.tick || rounded)(value));
    const room = widest(at.x.ticks(5).map((value) => tick(value))) + 14;
    drawn.append("g").attr("class", "axis").attr("transform", `translate(0,${at.top - 4})`)
      .call(d3.axisTop(at.x).ticks(Math.max(1, Math.min(5, Math.floor(at.plot / room / 1.6)))).tickFormat(tick)
        .tickSizeOuter(0));
    for (const line of chart.lines || []) {
      const made = drawn.append("line").attr("x1", at.x(line.at)).attr("x2", at.x(line.at)).attr("y1", at.top - 4)
        .attr("y2", bottom)
        .style("stroke", "var(--faint)").attr("stroke-dasharray", "4 3");
      if (line.text) made.append("title").text(line.text);
    }
  };

  // A bar that is hollow stands for what is not possible or not there.
  const drawBar = (group, bar, y, at) => {
    if (!bar.value && !bar.isHollow) return;
    const width = Math.max(1.5, at.x(bar.value || 0) - at.names);
    const made = group.append("rect").attr("x", at.names).attr("y", y).attr("width", width).attr("height", 11);
    if (bar.isHollow) made.style("fill", "none").style("stroke", bar.colour).attr("stroke-width", 2);
    else made.style("fill", bar.colour).style("stroke", "var(--faint)").attr("stroke-width", 0.5);
  };

  const drawWhisker = (group, row, y, at) => {
    const [low, high] = row.whisker.map(at.x);
    group.append("path").attr("d", `M${low},${y + 1.5}v8M${high},${y + 1.5}v8M${low},${y + 5.5}H${high}`)
      .style("stroke", "var(--ground)").style("opacity", 0.7).attr("stroke-width", 3.5).attr("fill", "none");
    group.append("path").attr("d", `M${low},${y + 1.5}v8M${high},${y + 1.5}v8M${low},${y + 5.5}H${high}`)
      .style("stroke", "var(--ink)").attr("stroke-width", 1.5).attr("fill", "none");
  };

  // Horizontal bars with their figures as text.
  // chart: {label, rows, high, tick, lines: [{at, text}], width, longestName, onPick: (row) => ...}
  // rows: {name, bars: [{value, text, colour, isHollow}], whisker: [low, high] of the first bar, note, tip}
  lanewise.bars = (root, chart) => {
    const at = barLayout(chart);
    const drawn = lanewise.svg(root, at.width, at.height, chart.label).attr("role", "group");
    barAxis(drawn, chart, at);
    const groups = drawn.selectAll("g.row").data(chart.rows).enter().append("g").attr("class", "row")
      .attr("role", "img");
    groups.each(function (row, i) {
      const group = d3.select(this);
      const top = at.top + at.tops[i] - at.heights[i] + 4;
      const middle = top + (13 * row.bars.length) / 2 + 3;
      group.append("rect").attr("x", 0).attr("y", top - 3).attr("width", at.width).attr("height", at.heights[i] - 2)
        .style("fill", "transparent");
      group.append("text").attr("x", at.names - 8).attr("y", middle).attr("text-anchor", "end")
        .text(shortened(row.name, at.most));
      row.bars.forEach((bar, b) => {
        const y = top + 13 * b;
        drawBar(group, bar, y, at);
        const end = b === 0 && row.whisker ? Math.max(bar.value || 0, row.whisker[1]) : bar.value || 0;
        group.append("text").attr("x", at.x(end) + 6).attr("y", y + 10).text(bar.text || "");
      });
      if (row.whisker) drawWhisker(group, row, top, at);
      if (row.note)
        group.append("text").attr("class", "label-faint").attr("x", at.names + at.plot + at.figures).attr("y", middle)
          .text(shortened(row.note, kMostNote));
    });
    lanewise.withTip(groups, (row) => row.tip || `${row.name}: ${row.bars.map((bar) => bar.text).join(", ")}`);
    if (chart.onPick) groups.attr("role", "button").style("cursor", "pointer").on("click", chart.onPick)
      .on("keydown", (row) => { if (d3.event.key === "Enter") chart.onPick(row); });
    return drawn;
  };

  // ---------------------------------------------------------------------------------- heat map
  // A triangle in the top right corner, with a rim that stands out from any colour.
  const drawCorner = (brush, colour, x, y, pixels) => {
    const size = Math.max(2, pixels * 0.36);
    brush.fillStyle = colour;
    brush.strokeStyle = "#fff";
    brush.beginPath();
    brush.moveTo(x + pixels - size, y);
    brush.lineTo(x + pixels, y);
    brush.lineTo(x + pixels, y + size);
    brush.closePath();
    brush.fill();
    brush.stroke();
  };
  // Cells go through a canvas into one image: 16,384 elements of SVG would be slow, and an image prints and scales.
  const pictureOf = (map) => {
    const count = map.names.length;
    const pixels = Math.max(1, Math.floor(1024 / count));
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = count * pixels;
    const brush = canvas.getContext("2d");
    brush.lineWidth = Math.max(1, pixels / 16);
    for (let row = 0; row < count; ++row)
      for (let column = 0; column < count; ++column) {
        const cell = map.cell(row, column);
        const [x, y] = [column * pixels, row * pixels];
        if (cell.colour) {
          brush.fillStyle = cell.colour;
          brush.fillRect(x, y, pixels, pixels);
        } else if (cell.mark) {
          brush.strokeStyle = "#888";
          brush.beginPath();
          brush.moveTo(x, y + pixels);
          brush.lineTo(x + pixels, y);
          if (cell.mark === "unknown") {
            brush.moveTo(x, y);
            brush.lineTo(x + pixels, y + pixels);
          }
          brush.stroke();
        }
        if (cell.corner) drawCorner(brush, cell.corner, x, y, pixels);
      }
    return canvas.toDataURL();
  };

  // Places of one node stand together: [{name, first, count}]; a name without a node is a group of its own.
  const groupsOf = (names) => {
    const groups = [];
    names.forEach((name, i) => {
      const node = name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : name;
      const last = groups[groups.length - 1];
      if (last && last.name === node) ++last.count;
      else groups.push({ name: node, first: i, count: 1 });
    });
    return groups;
  };

  const heatLayout = (names) => {
    const count = names.length;
    const width = Math.max(1, Math.min(72, Math.floor(896 / count)));
    const height = Math.max(1, Math.min(34, Math.floor(896 / count)));
    let labels = names.map((name, i) => ({ name, first: i, count: 1 }));
    if (height < 12) {
      labels = groupsOf(names);
      const step = Math.ceil(12 / (height * (count / labels.length)));
      labels = labels.filter((label, i) => i % step === 0);
    }
    const room = widest(labels.map((label) => label.name)) + 12;
    const isTurned = d3.max(labels, (label) => widthOf(label.name) + 4 - label.count * width) > 0;
    return { count, width, height, labels, isTurned, left: room + 22, top: (isTurned ? room : 20) + 18 };
  };

  const heatLabels = (drawn, at) => {
    const middle = (label, size) => (label.first + label.count / 2) * size;
    drawn.append("g").selectAll("text").data(at.labels).enter().append("text").attr("text-anchor", "end")
      .attr("x", at.left - 6).attr("y", (label) => at.top + middle(label, at.height) + 4).text((label) => label.name);
    drawn.append("g").selectAll("text").data(at.labels).enter().append("text")
      .attr("text-anchor", at.isTurned ? "start" : "middle")
      .attr("transform", (label) => {
        const x = at.left + middle(label, at.width);
        return at.isTurned ? `translate(${x + 4},${at.top - 6}) rotate(-90)` : `translate(${x},${at.top - 6})`;
      }).text((label) => label.name);
    drawn.append("text").attr("class", "label-faint").attr("x", at.left).attr("y", 12).text("to \u2192");
    drawn.append("text").attr("class", "label-faint").attr("text-anchor", "end")
      .attr("transform", `translate(12,${at.top}) rotate(-90)`).text("\u2190 from");
  };

  const heatTexts = (plot, map, at) => {
    if (at.width < 30) return;
    const cells = d3.cross(d3.range(at.count), d3.range(at.count));
    plot.append("g").attr("pointer-events", "none").selectAll("text").data(cells).enter().append("text")
      .attr("text-anchor", "middle").attr("x", ([row, column]) => (column + 0.5) * at.width)
      .attr("y", ([row]) => (row + 0.5) * at.height + 4).style("font-size", "11px")
      .style("fill", ([row, column]) => {
        const { colour } = map.cell(row, column);
        return colour ? inkOn(colour) : "var(--faint)";
      })
      .text(([row, column]) => {
        const { text } = map.cell(row, column);
        return widthOf(text) * 0.92 < at.width - 2 ? text : "";
      });
  };

  // Lines between cells, or between nodes where cells are small.
  const heatLines = (plot, map, at) => {
    const size = at.count * at.width;
    const starts = at.height >= 12 ? d3.range(1, at.count) : groupsOf(map.names).map((group) => group.first);
    if (starts.length * 4 > at.count && at.height < 12) return;
    const path = starts.map((i) => `M0,${i * at.height}H${size}M${i * at.width},0V${at.count * at.height}`).join("");
    plot.append("path").attr("d", path).style("stroke", "var(--ground)").attr("fill", "none")
      .attr("stroke-width", at.height >= 12 ? 1 : 0.7).attr("pointer-events", "none");
  };

  // A cursor that the pointer or the arrow keys move from cell to cell.
  const heatCursor = (plot, map, at) => {
    const cursor = plot.append("g").style("display", "none").attr("pointer-events", "none");
    for (const [colour, width] of [["#000", 4], ["#fff", 2]])
      cursor.append("rect").attr("width", at.width).attr("height", at.height).attr("fill", "none")
        .attr("stroke", colour).attr("stroke-width", width);
    const within = (value) => Math.max(0, Math.min(at.count - 1, value));
    let [row, column] = (map.at || [0, 0]).map(within);
    const show = () => {
      cursor.style("display", null).attr("transform", `translate(${column * at.width},${row * at.height})`);
      // Below the cell, so that the others of its row stay in sight.
      const { left, right, bottom } = cursor.node().getBoundingClientRect();
      lanewise.tipAt({ left, right, top: bottom + 6 }, map.tip(row, column));
    };
    const hide = () => { cursor.style("display", "none"); lanewise.hideTip(); };
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-8, 0],
      PageDown: [8, 0], Home: [0, -Infinity], End: [0, Infinity] };
    const area = plot.append("rect").attr("width", at.count * at.width).attr("height", at.count * at.height)
      .attr("class", "cells").style("fill", "transparent").attr("tabindex", 0).attr("role", "application")
      .attr("aria-label", `${map.label}. Arrow keys go from cell to cell.${map.onPick ? " Enter chooses one." : ""}`)
      .on("mousemove", function () {
        const [x, y] = d3.mouse(this);
        row = within(Math.floor(y / at.height));
        column = within(Math.floor(x / at.width));
        show();
      })
      .on("mouseleave", hide).on("blur", hide).on("focus", show)
      .on("keydown", () => {
        if (d3.event.key === "Escape") return hide();
        if (map.onPick && d3.event.key === "Enter") return map.onPick(row, column);
        const step = steps[d3.event.key];
        if (!step) return;
        d3.event.preventDefault();
        row = within(row + step[0]);
        column = within(column + step[1]);
        show();
      });
    if (map.onPick) area.style("cursor", "pointer").on("click", () => map.onPick(row, column));
    return { focus: () => area.node().focus(), hasFocus: () => document.activeElement === area.node(),
      at: () => [row, column] };
  };

  // map: {names, label, cell: (row, column) => {colour, text, mark, corner}, tip: (row, column) => text,
  //   onPick: (row, column) => ..., at: [row, column] of the cursor}
  // A cell without a colour shows the ground; mark: "none" strikes it through, "unknown" crosses it out. `corner`: the
  // colour of a triangle in its corner.
  lanewise.heatMap = (root, map) => {
    const at = heatLayout(map.names);
    const [width, height] = [at.count * at.width, at.count * at.height];
    const drawn = lanewise.svg(root, at.left + width + 4, at.top + height + 4, map.label).attr("role", "group");
    heatLabels(drawn, at);
    const plot = drawn.append("g").attr("transform", `translate(${at.left},${at.top})`);
    plot.append("image").attr("width", width).attr("height", height).attr("preserveAspectRatio", "none")
      .style("image-rendering", "pixelated").attr("href", pictureOf(map));
    heatLines(plot, map, at);
    heatTexts(plot, map, at);
    plot.append("rect").attr("width", width).attr("height", height).attr("fill", "none").style("stroke", "var(--line)");
    return heatCursor(plot, map, at);
  };

  // ---------------------------------------------------------------------------------- canvases
  // A canvas for many marks, and over it an SVG of equal size for axes, texts and cursors. Those take their colours
  // from page.css, so that a change of theme, and print, need no new drawing.
  lanewise.sharpCanvas = (root, width, height, label) => {
    const holder = d3.select(root).append("div").style("position", "relative").style("max-width", `${width}px`);
    const density = Math.max(2, window.devicePixelRatio || 1);  // 2 at least: it is printed too
    const canvas = holder.append("canvas").attr("width", width * density).attr("height", height * density)
      .style("position", "absolute").style("left", 0).style("top", 0).style("width", "100%").style("height", "100%");
    const brush = canvas.node().getContext("2d");
    brush.scale(density, density);
    const over = holder.append("svg").attr("viewBox", `0 0 ${width} ${height}`).style("position", "relative")
      .style("width", "100%").style("touch-action", "pan-x pan-y")
      .attr("tabindex", 0).attr("role", "application").attr("aria-label", label);
    return { brush, over };
  };

  // Where a point of a drawing is in the window, as tipAt takes it. The drawing may be scaled down.
  lanewise.inWindow = (over, x, y) => {
    const box = over.node().getBoundingClientRect();
    const scale = box.width / over.node().viewBox.baseVal.width;
    const left = box.left + x * scale;
    return { left, right: left, top: box.top + y * scale };
  };

  // The wheel and one finger scroll the page; the wheel with Ctrl or Shift, and two fingers, zoom.
  lanewise.zoomFilter = () => {
    const { type, touches, button, ctrlKey, shiftKey } = d3.event;
    if (type === "wheel") return ctrlKey || shiftKey;
    return touches ? touches.length > 1 : !button;
  };
  // Plus, minus and 0 zoom a drawing, the first about a point of it. Returns whether it was one of these keys.
  lanewise.zoomByKey = (key, zoom, over, point) => {
    if (key === "+" || key === "=") zoom.scaleBy(over, 1.5, point);
    else if (key === "-") zoom.scaleBy(over, 1 / 1.5);
    else if (key === "0") zoom.transform(over, d3.zoomIdentity);
    else return false;
    return true;
  };
}
