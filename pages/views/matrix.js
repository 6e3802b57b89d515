// Draws matrix/1: one figure for every pair of places, or for every class of pairs of a large machine.
// Also lends its charts to the other views: lanewise.choice, lanewise.bars, lanewise.heatMap.
{
  const { section, facts, legend, amountLegend, table, amount, category, inkOn, rounded, rate, time, bytes } = lanewise;
  // Pixels of a label, in the font that page.css gives to texts of a drawing.
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = '12px system-ui, "DejaVu Sans", sans-serif';
  const widthOf = (text) => Math.ceil(pen.measureText(text || "").width);
  const widest = (texts) => d3.max(texts, widthOf) || 0;

  // ---------------------------------------------------------------------------------- pieces that other views use too
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
      const made = drawn.append("line").attr("x1", at.x(line.at)).attr("x2", at.x(line.at)).attr("y1", at.top - 4).attr("y2", bottom)
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

  // Horizontal bars with their figures as text. chart: {label, rows, high, tick, lines: [{at, text}], width, longestName}
  // rows: {name, bars: [{value, text, colour, isHollow}], whisker: [low, high] of the first bar, note, tip}
  lanewise.bars = (root, chart) => {
    const at = barLayout(chart);
    const drawn = lanewise.svg(root, at.width, at.height, chart.label).attr("role", "group");
    barAxis(drawn, chart, at);
    const groups = drawn.selectAll("g.row").data(chart.rows).enter().append("g").attr("class", "row").attr("role", "img");
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
    return drawn;
  };

  // ---------------------------------------------------------------------------------- heat map
  lanewise.widthOf = widthOf;

  const showTipAt = (box, text) => {
    const tip = document.getElementById("tip");
    tip.textContent = text;
    tip.hidden = false;
    tip.style.left = `${Math.max(4, Math.min(box.right + 10, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.max(4, Math.min(box.bottom + 6, innerHeight - tip.offsetHeight - 8))}px`;
  };
  const hideTip = () => { document.getElementById("tip").hidden = true; };

  // Cells go through a canvas into one image: 16,384 elements of SVG would be slow, and an image prints and scales.
  const pictureOf = (map) => {
    const count = map.names.length;
    const pixels = Math.max(1, Math.floor(1024 / count));
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = count * pixels;
    const brush = canvas.getContext("2d");
    brush.strokeStyle = "#888";
    brush.lineWidth = Math.max(1, pixels / 16);
    for (let row = 0; row < count; ++row)
      for (let column = 0; column < count; ++column) {
        const cell = map.cell(row, column);
        const [x, y] = [column * pixels, row * pixels];
        if (cell.colour) {
          brush.fillStyle = cell.colour;
          brush.fillRect(x, y, pixels, pixels);
        } else if (cell.mark) {
          brush.beginPath();
          brush.moveTo(x, y + pixels);
          brush.lineTo(x + pixels, y);
          if (cell.mark === "unknown") {
            brush.moveTo(x, y);
            brush.lineTo(x + pixels, y + pixels);
          }
          brush.stroke();
        }
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
    let [row, column] = [0, 0];
    const within = (value) => Math.max(0, Math.min(at.count - 1, value));
    const show = () => {
      cursor.style("display", null).attr("transform", `translate(${column * at.width},${row * at.height})`);
      showTipAt(cursor.node().getBoundingClientRect(), map.tip(row, column));
    };
    const hide = () => { cursor.style("display", "none"); hideTip(); };
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-8, 0],
      PageDown: [8, 0], Home: [0, -Infinity], End: [0, Infinity] };
    plot.append("rect").attr("width", at.count * at.width).attr("height", at.count * at.height)
      .style("fill", "transparent").attr("tabindex", 0).attr("role", "application")
      .attr("aria-label", `${map.label}. Arrow keys go from cell to cell.`)
      .on("mousemove", function () {
        const [x, y] = d3.mouse(this);
        row = within(Math.floor(y / at.height));
        column = within(Math.floor(x / at.width));
        show();
      })
      .on("mouseleave", hide).on("blur", hide).on("focus", show)
      .on("keydown", () => {
        if (d3.event.key === "Escape") return hide();
        const step = steps[d3.event.key];
        if (!step) return;
        d3.event.preventDefault();
        row = within(row + step[0]);
        column = within(column + step[1]);
        show();
      });
  };

  // map: {names, label, cell: (row, column) => {colour, text, mark}, tip: (row, column) => text}
  // A cell without a colour shows the ground; mark: "none" strikes it through, "unknown" crosses it out.
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
    heatCursor(plot, map, at);
    return drawn;
  };

  // ---------------------------------------------------------------------------------- figures of a pair
  const isSelf = (entry) => entry.from === entry.to;
  const pairsOf = (entry) => entry.pairs || 1;
  const grouped = d3.format(",");
  const plural = (count, one, many) => `${grouped(count)} ${count === 1 ? one : many}`;

  const timeUnit = (most) => [[1e6, "s"], [1e3, "ms"], [1, "us"]].find(([least]) => most >= least) || [1e-3, "ns"];

  // What can be shown of these pairs. A figure has a number or a word for each.
  const figuresOf = (result, entries) => {
    const range = (entry) => entry.time_interval_us && entry.time_interval_us[1] / entry.time_interval_us[0];
    const isLatency = result.metric === "latency";
    const all = [
      { id: "bandwidth", name: result.bidirectional ? "bandwidth, both directions" : "bandwidth", text: rate,
        value: (entry) => (isLatency ? undefined : entry.bandwidth_GBps), unit: () => [1, "GB/s"], worst: "lowest" },
      { id: "latency", name: isLatency ? "latency" : "time", text: time, value: (entry) => entry.time_us,
        unit: timeUnit, worst: "highest" },
      { id: "range", name: "slow end of the 90 % range over its fast end", text: (value) => `${rounded(value)} x`,
        value: range, unit: () => [1, "x"], worst: "highest" },
      { id: "mechanism", name: "mechanism", isWord: true, text: (word) => word,
        value: (entry) => entry.mechanism || undefined },
      { id: "class", name: "class of path", isWord: true, text: (word) => word, value: (entry) => entry.class },
    ];
    return all.filter((figure) => entries.some((entry) => figure.value(entry) !== undefined));
  };

  const kNoDifference = 1.005;  // no two colours for what no measurement tells apart; as whatif has it

  const markOf = (entry) => (!entry ? "" : entry.mechanism ? "unknown" : "none");

  // Colours of a figure that is a number. Copies within one place are far faster than others and set no scale.
  const numberColours = (figure, entries, mode) => {
    const others = entries.filter((entry) => !isSelf(entry));
    const values = others.map(figure.value).filter((value) => value !== undefined);
    const [low, high] = d3.extent(values);
    const kind = mode !== "auto" ? mode : high / low > 20 ? "log" : "stretched";
    const share = (value) => {
      if (kind === "zero") return value / high;
      if (high / low < kNoDifference) return 0.5;
      return kind === "log" ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    };
    return { low, high, kind, of: (value) => amount(share(value)) };
  };
  const wordColours = (figure, entries) => {
    const counts = new Map();
    for (const entry of entries) {
      const word = figure.value(entry);
      if (word !== undefined) counts.set(word, (counts.get(word) || 0) + (isSelf(entry) ? 0 : pairsOf(entry)));
    }
    const words = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
    const known = new Map(words.map((word, i) => [word, category(i)]));
    return { counts, words, of: (word) => known.get(word) };
  };

  const describe = (entry, figures) => {
    const lines = [`${entry.from} > ${entry.to}`];
    if (entry.pairs) lines.push(`and what is alike: ${plural(entry.pairs, "pair", "pairs")}`);
    for (const figure of figures) {
      const value = figure.value(entry);
      if (value !== undefined) lines.push(`${figure.name}: ${figure.text(value)}`);
    }
    const range = entry.time_interval_us;
    if (range) lines.push(`90 % range of the time: ${time(range[0])} to ${time(range[1])}`);
    if (!entry.mechanism) lines.push("no legal way");
    if (entry.missing) lines.push(`unknown: ${entry.missing}`);
    if (entry.inferred) lines.push("generic parts set this figure: its range is wide");
    return lines.join("\n");
  };

  // ---------------------------------------------------------------------------------- the page
  const worstFacts = (figure, entries) => {
    const known = entries.filter((entry) => !isSelf(entry) && figure.value(entry) !== undefined);
    if (figure.isWord || known.length === 0) return [];
    const of = (end) => {
      const found = known[(end === "lowest" ? d3.scan : (list, order) => d3.scan(list, (a, b) => order(b, a)))(
        known, (a, b) => figure.value(a) - figure.value(b))];
      const text = figure.text(figure.value(found));
      const alike = d3.sum(known.filter((entry) => figure.text(figure.value(entry)) === text), pairsOf) - 1;
      const more = alike > 0 ? ` and ${grouped(alike)} more` : "";
      return [`${end === figure.worst ? "worst" : "best"} pair: ${found.from} > ${found.to}${more}`, text];
    };
    const ends = figure.worst === "lowest" ? [of("lowest"), of("highest")] : [of("highest"), of("lowest")];
    return ends[0][1] === ends[1][1] ? [["all pairs alike", ends[0][1]]] : ends;
  };

  const gapFacts = (entries, figure) => {
    const pairs = (test) => d3.sum(entries.filter(test), pairsOf);
    const noWay = pairs((entry) => !entry.mechanism);
    const unknown = pairs((entry) => entry.mechanism && figure.value(entry) === undefined);
    const found = [];
    if (noWay > 0) found.push(["no legal way", plural(noWay, "pair", "pairs")]);
    if (unknown > 0) found.push(["a figure is unknown", plural(unknown, "pair", "pairs")]);
    return found;
  };

  const modeWords = { model: "each pair alone on an idle machine, by the model", sim: "simulated",
    estimate: "as the planner estimates it", hw: "measured" };

  const heatSection = (root, result, figures, figure, colours, unit) => {
    const names = result.places;
    const index = new Map(names.map((name, i) => [name, i]));
    const grid = new Array(names.length * names.length);
    for (const entry of result.cells) grid[index.get(entry.from) * names.length + index.get(entry.to)] = entry;
    const at = (row, column) => grid[row * names.length + column];
    const text = (value, entry) =>
      figure.isWord ? value : (entry.inferred ? "~" : "") + rounded(value / unit[0]);
    lanewise.heatMap(root, {
      names,
      label: `${figure.name} from row to column`,
      cell: (row, column) => {
        const entry = at(row, column);
        const value = entry && figure.value(entry);
        if (value === undefined) return { mark: markOf(entry), text: "" };
        if (isSelf(entry) && !figure.isWord) return { text: text(value, entry) };
        return { colour: colours.of(value), text: text(value, entry) };
      },
      tip: (row, column) => {
        const entry = at(row, column);
        return entry ? describe(entry, figures) : `${names[row]} > ${names[column]}\nnot asked: stopped before`;
      },
    });
  };

  const classSection = (root, result, figures, figure, colours) => {
    const rows = result.classes.filter((entry) => figure.isWord || !isSelf(entry)).map((entry) => {
      const value = figure.value(entry);
      const known = value !== undefined;
      const colour = known ? colours.of(value) : "#8c8c8c";
      const bar = figure.isWord ? { value: entry.pairs, text: `${figure.text(value || "none")}`, colour }
        : { value, text: known ? figure.text(value) : markOf(entry) === "none" ? "no way" : "unknown", colour };
      return { name: `${entry.from} > ${entry.to}`, bars: [bar], note: plural(entry.pairs, "pair", "pairs"),
        tip: describe(entry, figures) };
    });
    lanewise.bars(root, { label: `${figure.name} of each class of pairs`, rows, tick: figure.isWord ? grouped : figure.text });
    const optional = (id) => figures.find((one) => one.id === id);
    const columns = [
      { name: "pairs", value: (entry) => entry.pairs, text: (entry) => grouped(entry.pairs) },
      { name: "such as", value: (entry) => `${entry.from} > ${entry.to}` },
      { name: "class", value: (entry) => entry.class }, { name: "mechanism", value: (entry) => entry.mechanism || "none" }];
    for (const one of ["bandwidth", "latency"].map(optional).filter(Boolean))
      columns.push({ name: one.name, value: one.value, text: (entry) => (one.value(entry) === undefined ? ""
        : one.text(one.value(entry))) });
    columns.push({ name: "90 % range of the time", value: (entry) => (entry.time_interval_us || [])[0],
      text: (entry) => (entry.time_interval_us ? entry.time_interval_us.map(time).join(" to ") : "") });
    table(root, columns, result.classes);
  };

  // How many pairs have which value: of each value where there are few, otherwise of equal ranges of values.
  const countsOf = (figure, entries, colours) => {
    if (figure.isWord)
      return colours.words.filter((word) => colours.counts.get(word) > 0)
        .map((word) => ({ name: word, pairs: colours.counts.get(word), colour: colours.of(word) }));
    const known = entries.filter((entry) => !isSelf(entry) && figure.value(entry) !== undefined);
    const byText = d3.nest().key((entry) => figure.text(figure.value(entry))).entries(known);
    if (byText.length <= 16)
      return byText.map(({ key, values }) => ({ name: key, pairs: d3.sum(values, pairsOf), value: figure.value(values[0]),
        colour: colours.of(figure.value(values[0])) })).sort((a, b) => a.value - b.value);
    const bins = d3.histogram().value(figure.value).domain([colours.low, colours.high]).thresholds(24)(known);
    return bins.map((bin) => ({ name: `${figure.text(bin.x0)} to ${figure.text(bin.x1)}`, pairs: d3.sum(bin, pairsOf),
      colour: colours.of((bin.x0 + bin.x1) / 2) }));
  };

  const histogramSection = (root, figure, entries, colours) => {
    const counts = countsOf(figure, entries, colours);
    if (counts.length === 0) return;
    const all = d3.sum(counts, (count) => count.pairs);
    const made = section(root, "How many pairs have which value",
      "Transfers within one place are not counted. (a, b) and (b, a) are two pairs.");
    lanewise.bars(made.node(), { label: `number of pairs by ${figure.name}`, tick: d3.format("~s"),
      rows: counts.map((count) => ({ name: count.name,
        bars: [{ value: count.pairs, colour: count.colour,
          text: `${grouped(count.pairs)} (${lanewise.percent(count.pairs / all)})` }],
        tip: `${count.name}: ${plural(count.pairs, "pair", "pairs")} of ${grouped(all)}` })) });
  };

  const figureLegend = (root, figure, colours, entries) => {
    if (figure.isWord) legend(root, colours.words.map((word) => ({ colour: colours.of(word), text: word })));
    else if (colours.high !== undefined) {
      const low = colours.kind === "zero" ? `0 ${figure.unit(colours.high)[1]}` : figure.text(colours.low);
      amountLegend(root, low + (colours.kind === "log" ? " (logarithmic)" : ""), figure.text(colours.high));
    }
    const texts = [];
    if (entries.some((entry) => !entry.mechanism)) texts.push("/ no legal way");
    if (entries.some((entry) => entry.mechanism && figure.value(entry) === undefined)) texts.push("x a figure is unknown");
    if (entries.some((entry) => entry.inferred)) texts.push("~ generic parts set the figure");
    if (texts.length > 0) d3.select(root).append("p").attr("class", "note").text(texts.join(";  "));
  };

  const drawFigure = (root, result, figures, figure, scale) => {
    d3.select(root).selectAll("*").remove();
    const entries = result.cells || result.classes;
    const colours = figure.isWord ? wordColours(figure, entries) : numberColours(figure, entries, scale);
    facts(root, [...worstFacts(figure, entries), ...gapFacts(entries, figure)]);
    const unit = figure.isWord ? null : figure.unit(colours.high || 1);
    const name = figure.name[0].toUpperCase() + figure.name.slice(1);
    const made = section(root, result.cells ? `${name}, from row to column` : `${name}, by class of pairs`,
      unit ? (result.cells ? `In ${unit[1]}. Transfers within one place have no colour.`
        : "Bars without transfers within one place, which are in the table.") : null);
    figureLegend(made.node(), figure, colours, entries);
    if (result.cells) heatSection(made.node(), result, figures, figure, colours, unit);
    else classSection(made.node(), result, figures, figure, colours);
    histogramSection(root, figure, entries, colours);
  };

  lanewise.view("matrix/1", (root, result) => {
    const entries = result.cells || result.classes;
    const figures = figuresOf(result, entries);
    const both = result.bidirectional ? ", both directions at once, summed" : "";
    const made = section(root, result.machine,
      `One ${result.op} of ${bytes(result.bytes)}${both}; ${modeWords[result.mode] || result.mode}.`);
    const places = result.places ? result.places.length : result.number_of_places;
    const head = [["places", grouped(places)], ["pairs", grouped(d3.sum(entries.filter((entry) => !isSelf(entry)), pairsOf))]];
    if (result.stopped) head.push(["stopped after", `${result.stopped.rows} of ${result.stopped.of} rows`]);
    facts(made.node(), head);
    const controls = made.append("p").node();
    const below = d3.select(root).append("div").node();
    let figure = figures.find((one) => one.id === result.metric) || figures[0];
    let scale = "auto";
    let colours = null;
    const draw = () => {
      d3.select(colours.node().parentNode).style("display", figure.isWord ? "none" : null);
      drawFigure(below, result, figures, figure, scale);
    };
    lanewise.choice(controls, "figure", figures.map((one) => ({ value: one.id, text: one.name })), figure.id, (id) => {
      figure = figures.find((one) => one.id === id);
      draw();
    });
    colours = lanewise.choice(controls, "colours", [{ value: "auto", text: "as fits" },
      { value: "stretched", text: "lowest to highest" },
      { value: "zero", text: "from zero" }, { value: "log", text: "logarithmic" }], scale, (kind) => { scale = kind; draw(); });
    draw();
  });
}
