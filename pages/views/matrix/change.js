// What changed between a matrix and one before it: of a pair, and of all.
{
  const { facts, legend, category, plural } = lanewise;
  const { isSelf, pairsOf, byPair, markOf, describe } = lanewise.pairs;

  // ---------------------------------------------------------------------------------- of a pair
  const kLost = "#000000";
  const kGained = "#009e73";
  const kOtherWord = category(1);
  const cornerOf = { lost: category(5), gained: kGained };  // black would not be seen on a dark ground
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

  // ---------------------------------------------------------------------------------- of all pairs
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

  lanewise.pairChanges = { cornerOf, changeOf, describeBoth, changeCell, changesOf, mostOf, changeFacts, changeKey,
    cornerLegend };
}
