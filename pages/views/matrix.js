// Draws matrix/1: one figure for every pair of places, or for every class of pairs of a large machine.
{
  const { section, facts, legend, amountLegend, table, amount, category, rounded, rate, time, timeUnit, bytes, grouped,
    plural } = lanewise;

  // ---------------------------------------------------------------------------------- figures of a pair
  const isSelf = (entry) => entry.from === entry.to;
  const pairsOf = (entry) => entry.pairs || 1;

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
    lanewise.bars(root, { label: `${figure.name} of each class of pairs`, rows,
      tick: figure.isWord ? grouped : figure.text });
    const optional = (id) => figures.find((one) => one.id === id);
    const columns = [
      { name: "pairs", value: (entry) => entry.pairs, text: (entry) => grouped(entry.pairs) },
      { name: "such as", value: (entry) => `${entry.from} > ${entry.to}` },
      { name: "class", value: (entry) => entry.class },
      { name: "mechanism", value: (entry) => entry.mechanism || "none" }];
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
      return byText.map(({ key, values }) =>
        ({ name: key, pairs: d3.sum(values, pairsOf), value: figure.value(values[0]),
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
    if (entries.some((entry) => entry.mechanism && figure.value(entry) === undefined))
      texts.push("x a figure is unknown");
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
    const head = [["places", grouped(places)],
      ["pairs", grouped(d3.sum(entries.filter((entry) => !isSelf(entry)), pairsOf))]];
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
      { value: "zero", text: "from zero" }, { value: "log", text: "logarithmic" }], scale,
      (kind) => { scale = kind; draw(); });
    draw();
  });
}
