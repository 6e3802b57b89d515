// The figures that a matrix has of a pair of places, or of a class of pairs: their values, words and colours.
{
  const { amount, category, rounded, rate, time, timeUnit, plural } = lanewise;

  const isSelf = (entry) => entry.from === entry.to;
  const pairsOf = (entry) => entry.pairs || 1;
  const keyOf = (entry) => `${entry.from}>${entry.to}`;
  const entriesOf = (result) => result.cells || result.classes;
  // alsoKnown: pairs by whose name no class goes.
  const byPair = (result) =>
    new Map([...entriesOf(result), ...(result.alsoKnown || [])].map((entry) => [keyOf(entry), entry]));

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

  lanewise.pairs = { isSelf, pairsOf, keyOf, entriesOf, byPair, figuresOf, markOf, numberColours, wordColours,
    describe };
}
