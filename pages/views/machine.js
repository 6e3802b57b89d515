// The page of one server (machine/1): its drawing, settings, parts and notes.
// Lends lanewise.describeMachine and lanewise.writeNotes to the view of clusters.
(() => {
  const { kinds, read } = lanewise.machineGraph;

  const virtualizationText = (value) => (typeof value === "object" && value ? Object.values(value)
      .filter((one) => typeof one === "string").join(", ") : value);
  const partsOf = (machine) => {
    const graph = read(machine);
    const found = [...graph.boxes.values()].filter((box) => box.part)
      .map((box) => ({ kind: kinds[box.kind].text, part: box.part,
        count: 1 }));
    for (const link of machine.socket_links || [])
      found.push({ kind: "socket link", part: link.part, count: link.count });
    const counted = new Map();
    for (const link of machine.nvlinks || []) {
      const part = link.part || `nvlink-${link.generation}`;
      counted.set(part, (counted.get(part) || 0) + link.count * (link.gpus ? link.gpus.length : 1));
    }
    for (const [part, count] of counted) found.push({ kind: "GPU link", part, count });
    return d3.nest().key((one) => `${one.kind} ${one.part}`).entries(found)
      .map(({ values }) => ({ ...values[0], count: d3.sum(values, (one) => one.count),
          own: Boolean((machine.parts || {})[values[0].part]) }));
  };
  const writeNotes = (root, notes, title) => {
    if (!notes || !notes.length) return;
    lanewise.section(root, title || "Notes").append("ul").selectAll("li").data(notes).enter().append("li")
      .text((note) => note);
  };
  const writeFacts = (root, machine) => {
    const settings = machine.settings || {};
    const software = machine.software || {};
    const section = lanewise.section(root, "Settings and parts");
    lanewise.facts(section.node(), [["ACS", settings.acs || "not stated"], ["IOMMU", settings.iommu || "not stated"],
      ["virtualization", virtualizationText(settings.virtualization) || "not stated"]]);
    const names = (isSet) => Object.keys(software).filter((name) => software[name] === isSet).join(", ");
    if (Object.keys(software).length) section.append("p")
        .text(`Software: ${names(true) || "none"}. Not there: ${names(false) || "nothing"}.`);
    lanewise.table(section.node(), [
      { name: "count", value: (row) => row.count }, { name: "kind", value: (row) => row.kind },
      { name: "part", value: (row) => row.part,
        text: (row) => (row.own ? `${row.part} (described in this file)` : row.part) },
    ], partsOf(machine), { filter: false });
    if (machine.overrides) lanewise.table(lanewise.section(root, "Figures set for single pairs").node(),
      d3.keys(Object.assign({}, ...machine.overrides)).map((key) => ({ name: key, value: (row) => row[key] })),
        machine.overrides);
  };
  lanewise.describeMachine = (root, machine, options) => {
    const drawn = lanewise.drawMachine(root, machine, options);
    writeFacts(root, machine);
    return drawn;
  };
  lanewise.writeNotes = writeNotes;
  lanewise.view("machine/1", (root, machine) => {
    const section = lanewise.section(root, machine.title || machine.machine);
    lanewise.drawMachine(section.node(), machine);
    writeFacts(root, machine);
    writeNotes(root, machine.notes);
  });
})();
