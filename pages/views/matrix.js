// Draws matrix/1: one figure for every pair of places, or for every class of pairs of a large machine.
// Other views draw one beside what it was before: lanewise.drawMatrix(root, result, {before, onPick}).
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

  const markOf = (entry) => (!entry ? "" : entry.mechanism ? "unknown" : "none");

  // Colours of a figure that is a number. Copies within one place are far faster than others and set no scale.
  const numberColours = (figure, entries, mode) => {
    const others = entries.filter((entry) => !isSelf(entry));
    const values = others.map(figure.value).filter((value) => value !== undefined);
    const [low, high] = d3.extent(values);
    const kind = mode !== "auto" ? mode : high / low > 20 ? "log" : "stretched";
    const share = (value) => {
      if (kind === "zero") return value / high;
      if (high / low < lanewise.kNoDifference) return 0.5;
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

  // ---------------------------------------------------------------------------------- what changed
  const kLost = "#000000";
  const kGained = "#009e73";
  const kOtherWord = category(1);
  const cornerOf = { lost: category(5), gained: kGained };  // black would not be seen on a dark ground
  const keyOf = (entry) => `${entry.from}>${entry.to}`;
  const entriesOf = (result) => result.cells || result.classes;
  // alsoKnown: pairs by whose name no class goes.
  const byPair = (result) =>
    new Map([...entriesOf(result), ...(result.alsoKnown || [])].map((entry) => [keyOf(entry), entry]));
  const isLegal = (entry) => Boolean(entry && entry.mechanism);

  // What became of a pair. `ratio`: of its figure, after over before. `harm`: how many times worse that is.
  const changeOf = (was, is, figure) => {
    if (isLegal(was) !== isLegal(is)) return { kind: isLegal(was) ? "lost" : "gained" };
    const [before, now] = [was, is].map((entry) => (entry ? figure.value(entry) : undefined));
    if (before === undefined || now === undefined) return { kind: "unknown" };
    if (figure.isWord) return { kind: before === now ? "same" : "other" };
    const ratio = now / before;
    if (!lanewise.isChange(ratio)) return { kind: "same", harm: 1 };
    return { kind: "changed", ratio, harm: figure.worst === "lowest" ? 1 / ratio : ratio };
  };

  // Now and before side by side, for a tip.
  const describeBoth = (was, is, figures) => {
    if (!was || !is) return `${describe(is || was, figures)}\n${is ? "before: not known" : "now: not there"}`;
    const lines = [describe(is, figures)];
    if (isLegal(was) !== isLegal(is)) lines.push(isLegal(was) ? "before: it had a legal way" : "before: no legal way");
    for (const figure of figures) {
      const [before, now] = [figure.value(was), figure.value(is)];
      if (before === undefined || (now !== undefined && figure.text(before) === figure.text(now))) continue;
      const by = figure.isWord || now === undefined ? "" : ` (now ${lanewise.changeText(now / before)})`;
      lines.push(`before: ${figure.name} ${figure.text(before)}${by}`);
    }
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
  const changeCell = (was, is, figure, most) => {
    const change = changeOf(was, is, figure);
    if (change.kind === "lost") return { colour: kLost, text: "lost" };
    if (change.kind === "gained") return { colour: kGained, text: "new" };
    if (change.kind === "unknown") return { mark: markOf(is || was), text: "" };
    if (change.kind === "other") return { colour: kOtherWord, text: figure.value(is) };
    if (change.kind === "same") return { text: "=" };
    const text = lanewise.changeText(change.ratio);
    return isSelf(is) ? { text } : { colour: lanewise.changeColour(change.harm, most), text };
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

  // ---------------------------------------------------------------------------------- a change as a whole
  const changesOf = ({ result, before, figure }) => {
    const [now, then] = [byPair(result), byPair(before)];
    const keys = result.cells ? [...new Set([...now.keys(), ...then.keys()])]
      : [...now.keys()].filter((key) => then.has(key));
    return keys.map((key) => {
      const entry = now.get(key) || then.get(key);
      return { ...changeOf(then.get(key), now.get(key), figure), entry, pairs: pairsOf(entry) };
    }).filter((change) => !isSelf(change.entry));
  };
  // The end of the scale of changes: as far as any goes, either way.
  const mostOf = (changes) =>
    Math.max(1.1, d3.max(changes, (one) => (one.harm ? Math.max(one.harm, 1 / one.harm) : 1)) || 1);
  const changeFacts = (root, changes) => {
    const count = (test) => d3.sum(changes.filter(test), (one) => one.pairs);
    const list = [];
    for (const [word, test, order] of [["worse", (one) => one.harm > 1, d3.descending],
      ["better", (one) => one.harm < 1, d3.ascending]]) {
      const found = changes.filter(test).sort((a, b) => order(a.harm, b.harm));
      if (found.length) list.push([`${word}, most ${found[0].entry.from} > ${found[0].entry.to}`,
        `${plural(count(test), "pair", "pairs")}, ${lanewise.changeText(found[0].ratio)}`]);
    }
    for (const [kind, name] of [["lost", "no legal way any more"], ["gained", "a legal way is new"],
      ["other", "another word"], ["same", "the same"]]) {
      const found = count((one) => one.kind === kind);
      if (found || kind === "same") list.push([name, plural(found, "pair", "pairs")]);
    }
    facts(root, list);
  };
  const changeKey = (root, shown, changes) => {
    if (!shown.result.cells) {
      legend(root, [{ colour: "#8c8c8c", text: "hollow: before" }, { colour: "var(--bad)", text: "now, worse" },
        { colour: "var(--good)", text: "now, better" }]);
      return;
    }
    if (!shown.figure.isWord) lanewise.changeLegend(root, shown.most);
    const entries = shown.figure.isWord ? [{ colour: kOtherWord, text: "another word than before" }] : [];
    if (changes.some((one) => one.kind === "lost")) entries.push({ colour: kLost, text: "no legal way any more" });
    if (changes.some((one) => one.kind === "gained")) entries.push({ colour: kGained, text: "a legal way is new" });
    if (entries.length) legend(root, entries);
  };
  const cornerLegend = (root, changes) => {
    const entries = [];
    if (changes.some((one) => one.kind === "lost"))
      entries.push({ colour: cornerOf.lost, text: "corner: lost its way" });
    if (changes.some((one) => one.kind === "gained"))
      entries.push({ colour: cornerOf.gained, text: "corner: gained a way" });
    if (entries.length) legend(root, entries);
  };

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
