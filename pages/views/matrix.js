// Draws matrix/1: one figure for every pair of places, or for every class of pairs of a large machine.
// Other views draw one beside what it was before: lanewise.drawMatrix(root, result, {before, onPick}).
{
  const { section, facts, legend, amountLegend, table, rounded, time, bytes, grouped, plural } = lanewise;
  const { isSelf, pairsOf, keyOf, entriesOf, byPair, figuresOf, markOf, numberColours, wordColours,
    describe } = lanewise.pairs;
  const { cornerOf, changeOf, describeBoth, changeCell, changesOf, mostOf, changeFacts, changeKey,
    cornerLegend } = lanewise.pairChanges;

  // ---------------------------------------------------------------------------------- facts
  const worstFacts = (figure, entries) => {
    const known = entries.filter((entry) => !isSelf(entry) && figure.value(entry) !== undefined);
    if (figure.isWord || known.length === 0) return [];
    const of = (end) => {
      const found = known[(end === "lowest" ? d3.scan : (list, order) => d3.scan(list, (a, b) => order(b, a)))(
        known, (a, b) => figure.value(a) - figure.value(b))];
      const text = figure.text(figure.value(found));
      const alike = d3.sum(known.filter((entry) => figure.text(figure.value(entry)) === text), pairsOf) - 1;
      const more = alike > 0 ? ` and ${grouped(alike)} more` : "";
      return [`${end === figure.worst ? "worst" : "best"} pair: ${found.from} > ${found.to}${more}`, text,
        figure.value(found)];
    };
    const ends = figure.worst === "lowest" ? [of("lowest"), of("highest")] : [of("highest"), of("lowest")];
    const [[name, text, worst], [bestName, bestText, best]] = ends;
    if (text === bestText) return [["all pairs alike", text]];
    return [[name, `${text}, ${lanewise.percent(worst / best, 0)} of the best`], [bestName, bestText]];
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

  // ---------------------------------------------------------------------------------- every pair as a cell
  // The names of both, in the order of the one that has more.
  const namesOfBoth = (one, other) => {
    const [more, fewer] = one.length >= other.length ? [one, other] : [other, one];
    const known = new Set(more);
    return [...more, ...fewer.filter((name) => !known.has(name))];
  };
  const numberCell = (entry, figure, colours, unit) => {
    const value = entry && figure.value(entry);
    if (value === undefined) return { mark: markOf(entry), text: "" };
    const text = figure.isWord ? value : (entry.inferred ? "~" : "") + rounded(value / unit[0]);
    return isSelf(entry) && !figure.isWord ? { text } : { colour: colours.of(value), text };
  };

  const heatSection = (root, shown) => {
    const { figure, figures, result, before, side } = shown;
    const names = !before || side === "now" ? result.places
      : side === "before" ? before.places : namesOfBoth(result.places, before.places);
    const [now, then] = [byPair(result), before ? byPair(before) : null];
    const pair = (row, column) => `${names[row]}>${names[column]}`;
    const drawn = side === "before" ? then : now;
    const cursor = lanewise.heatMap(root, {
      names,
      at: shown.at,
      label: `${side === "change" ? "change of " : ""}${figure.name} from row to column`,
      cell: (row, column) => {
        const key = pair(row, column);
        const [was, is] = [then && then.get(key), now.get(key)];
        if (side === "change") return changeCell(was, is, figure, shown.most);
        const cell = numberCell(drawn.get(key), figure, shown.colours, shown.unit);
        return then ? { ...cell, corner: cornerOf[changeOf(was, is, figure).kind] } : cell;
      },
      tip: (row, column) => {
        const key = pair(row, column);
        const [was, is] = [then && then.get(key), now.get(key)];
        if (!was && !is) return `${names[row]} > ${names[column]}\nnot asked: stopped before`;
        return then ? describeBoth(was, is, figures) : describe(is, figures);
      },
      onPick: shown.onPick && ((row, column) => { if (row !== column) shown.onPick(names[row], names[column]); }),
    });
    shown.cursor = cursor;
  };

  // ---------------------------------------------------------------------------------- classes of pairs as bars
  // The value of a class as a bar, in the colour of its amount.
  const classBar = (entry, shown) => {
    const { figure, colours } = shown;
    const value = entry && figure.value(entry);
    const known = value !== undefined;
    const colour = known ? colours.of(value) : "#8c8c8c";
    if (figure.isWord) return { value: entry.pairs, text: `${figure.text(value || "none")}`, colour };
    return { value, text: known ? figure.text(value) : markOf(entry) === "none" ? "no way" : "unknown", colour };
  };
  // What a class was before below what it is now. Classes are called by one of their pairs, which a change may move
  // into another class.
  const changeBars = (was, is, shown) => {
    if (!was) return { bars: [classBar(is, shown)], text: "before: not known" };
    const { figure } = shown;
    const change = changeOf(was, is, figure);
    const colour = change.kind === "lost" || change.harm > 1 ? "var(--bad)"
      : change.kind === "gained" || change.harm < 1 ? "var(--good)" : "#8c8c8c";
    const words = { lost: "lost", gained: "new", unknown: "unknown", same: "the same", other: "other" };
    return { text: words[change.kind] || lanewise.changeText(change.ratio),
      bars: [{ ...classBar(is, shown), colour }, { ...classBar(was, shown), colour: "#8c8c8c", isHollow: true }] };
  };
  const classSection = (root, shown) => {
    const { figure, figures, before, side } = shown;
    const result = side === "before" ? before : shown.result;
    const then = before ? byPair(before) : null;
    const now = byPair(shown.result);
    const rows = result.classes.filter((entry) => figure.isWord || !isSelf(entry)).map((entry) => {
      const [was, is] = [then && then.get(keyOf(entry)), now.get(keyOf(entry))];
      const change = side === "change" ? changeBars(was, is, shown) : null;
      return { name: `${entry.from} > ${entry.to}`, bars: change ? change.bars : [classBar(entry, shown)],
        note: plural(entry.pairs, "pair", "pairs") + (change ? `, ${change.text}` : ""), entry,
        tip: then ? describeBoth(was, is, figures) : describe(entry, figures) };
    });
    const pick = shown.onPick && ((entry) => { if (!isSelf(entry)) shown.onPick(entry.from, entry.to); });
    lanewise.bars(root, { label: `${figure.name} of each class of pairs`, rows, width: shown.width,
      tick: figure.isWord ? grouped : figure.text, onPick: pick && ((row) => pick(row.entry)) });
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
    table(root, columns, result.classes, { onRow: pick });
  };

  // ---------------------------------------------------------------------------------- counts and legends
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
      const [atLow, atHigh] = figure.worst === "lowest" ? ["worse", "better"] : ["better", "worse"];
      amountLegend(root, `${atLow}: ${low}${colours.kind === "log" ? " (logarithmic)" : ""}`,
        `${figure.text(colours.high)}: ${atHigh}`);
    }
    const texts = [];
    if (entries.some((entry) => !entry.mechanism)) texts.push("/ no legal way");
    if (entries.some((entry) => entry.mechanism && figure.value(entry) === undefined))
      texts.push("x a figure is unknown");
    if (entries.some((entry) => entry.inferred)) texts.push("~ generic parts set the figure");
    if (texts.length > 0) d3.select(root).append("p").attr("class", "note").text(texts.join(";  "));
  };

  // ---------------------------------------------------------------------------------- one figure of a matrix
  // shown: {result, before, side, figures, figure, scale, onPick, at}; the rest follows from these
  const drawFigure = (root, shown) => {
    d3.select(root).selectAll("*").remove();
    const { figures, figure, before, side } = shown;
    const result = side === "before" ? before : shown.result;
    const entries = entriesOf(result);
    // Before and now have one scale, so that a look at one and then the other compares them.
    const all = before ? [...entriesOf(shown.result), ...entriesOf(before)] : entries;
    const colours = figure.isWord ? wordColours(figure, all) : numberColours(figure, all, shown.scale);
    const unit = figure.isWord ? null : figure.unit(colours.high || 1);
    const changes = before ? changesOf(shown) : [];
    Object.assign(shown, { colours, unit, most: mostOf(changes) });
    if (side === "change") changeFacts(root, changes);
    else facts(root, [...worstFacts(figure, entries), ...gapFacts(entries, figure)]);
    const name = side === "change" ? `Change of ${figure.name}` : figure.name[0].toUpperCase() + figure.name.slice(1);
    const note = side === "change" ? (result.cells ? "Now over before. No colour: the same as before."
      : "Now and before of one pair of each class.") : unit
      ? (result.cells ? `In ${unit[1]}. Transfers within one place have no colour.`
        : "Bars without transfers within one place, which are in the table.") : null;
    const made = section(root, result.cells ? `${name}, from row to column` : `${name}, by class of pairs`, note);
    if (side === "change") changeKey(made.node(), shown, changes);
    else figureLegend(made.node(), figure, colours, entries);
    if (result.cells && side !== "change") cornerLegend(made.node(), changes);
    if (result.cells) heatSection(made.node(), shown);
    else classSection(made.node(), shown);
    if (shown.hasCounts) histogramSection(root, figure, entries, colours);
  };

  // ---------------------------------------------------------------------------------- the page
  // Draws the figures of a matrix with what chooses among them.
  // options: {before: the matrix to compare with, onPick: (from, to) => ..., controls: an element for the choices,
  //   hasCounts: also how many pairs have which value, width: of bars, side: "now", "before" or "change" at first}
  // Returns {update: (result, before) => ...}; what is chosen stays.
  lanewise.drawMatrix = (root, result, options = {}) => {
    const controls = options.controls || d3.select(root).append("p").node();
    const below = d3.select(root).append("div").node();
    const shown = { side: options.side || "now", scale: "auto", onPick: options.onPick, hasCounts: options.hasCounts,
      width: options.width };
    const [lists, holders] = [{}, {}];
    const draw = () => {
      const keepsFocus = shown.cursor && shown.cursor.hasFocus();
      shown.at = shown.cursor && shown.cursor.at();
      holders.scale.style("display", shown.figure.isWord || shown.side === "change" ? "none" : null);
      drawFigure(below, shown);
      if (keepsFocus && shown.cursor) shown.cursor.focus();
    };
    const choose = (name, label, choices, chosen, onChange) => {
      lists[name] = lanewise.choice(controls, label, choices, chosen, (value) => { onChange(value); draw(); });
      holders[name] = d3.select(lists[name].node().parentNode);
    };
    const setUp = (now, before) => {
      // Figures of large machines are of classes: the two are compared only where both are of one kind.
      const isComparable = before && Boolean(before.cells) === Boolean(now.cells);
      Object.assign(shown, { result: now, before: isComparable ? before : null, cursor: shown.cursor });
      const all = isComparable ? [...entriesOf(now), ...entriesOf(before)] : entriesOf(now);
      const known = shown.figure ? shown.figure.id : now.metric;
      shown.figures = figuresOf(now, all);
      shown.figure = shown.figures.find((one) => one.id === known) || shown.figures[0];
    };
    setUp(result, options.before);
    const figureChoices = () => shown.figures.map((one) => ({ value: one.id, text: one.name }));
    choose("figure", "figure", figureChoices(), shown.figure.id,
      (id) => { shown.figure = shown.figures.find((one) => one.id === id); });
    if (options.before !== undefined)
      choose("side", "show", [{ value: "now", text: "now" }, { value: "before", text: "before" },
        { value: "change", text: "change" }], shown.side, (side) => { shown.side = side; });
    choose("scale", "colours", [{ value: "auto", text: "as fits" }, { value: "stretched", text: "lowest to highest" },
      { value: "zero", text: "from zero" }, { value: "log", text: "logarithmic" }], shown.scale,
      (kind) => { shown.scale = kind; });
    const showSide = () => {
      if (!shown.before) shown.side = "now";
      if (!lists.side) return;
      holders.side.style("display", shown.before ? null : "none");
      lists.side.property("value", shown.side);
    };
    showSide();
    draw();
    const update = (now, before) => {
      setUp(now, before);
      showSide();
      const options = lists.figure.selectAll("option").data(figureChoices(), (one) => (one ? one.value : undefined));
      options.exit().remove();
      options.enter().append("option").attr("value", (one) => one.value).text((one) => one.text);
      lists.figure.property("value", shown.figure.id);
      draw();
    };
    return { update };
  };

  const modeWords = { model: "each pair alone on an idle machine, by the model", sim: "simulated",
    estimate: "as the planner estimates it", hw: "measured" };
  lanewise.view("matrix/1", (root, result) => {
    const entries = entriesOf(result);
    const both = result.bidirectional ? ", both directions at once, summed" : "";
    const made = section(root, result.machine,
      `One ${result.op} of ${bytes(result.bytes)}${both}; ${modeWords[result.mode] || result.mode}.`);
    const places = result.places ? result.places.length : result.number_of_places;
    const head = [["places", grouped(places)],
      ["pairs", grouped(d3.sum(entries.filter((entry) => !isSelf(entry)), pairsOf))]];
    if (result.stopped) head.push(["stopped after", `${result.stopped.rows} of ${result.stopped.of} rows`]);
    facts(made.node(), head);
    lanewise.drawMatrix(root, result, { controls: made.append("p").node(), hasCounts: true });
  });
}
