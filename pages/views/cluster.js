// A cluster by class: network tiers from the top, then each kind of node, then the GPU link domains that join nodes.
// Thousands of nodes make no more boxes than ten do: what is alike is one box with a count.
// Other views draw one too: lanewise.drawCluster(root, below, cluster).
(() => {
  const colours = { network: lanewise.category(4), node: lanewise.category(0), domain: lanewise.category(2) };
  const many = (count, word, words) => `${count} ${count === 1 ? word : words || `${word}s`}`;
  const nodeOf = (name) => name.split("/")[0];

  // ---------------------------------------------------------------------------------- classes
  // Names that differ only in their numbers are alike: leaf0.rail3 and leaf1.rail0.
  const pattern = (name) => name.replace(/\d+/g, "#");
  // What the numbers in names count: "leaf 0 to 3, rail 0 to 7".
  const numbersText = (names) => {
    const words = names[0].replace(/^.*\//, "").split(/(?<=\d)(?=\D)/);
    const ranges = words.map((word, i) => {
      const label = word.replace(/[\d.]+/g, " ").trim();
      const numbers = names.map((name) => Number(
        /\d+/.exec(name.replace(/^.*\//, "").split(/(?<=\d)(?=\D)/)[i] || "")));
      const [least, most] = d3.extent(numbers);
      return least === most ? "" : `${label} ${least} to ${most}`;
    });
    return ranges.filter((range) => range).join(", ");
  };
  const switchClasses = (fabric) => {
    const switches = fabric.leaves.map((one) =>
      ({ name: one.leaf, tier: 0, part: fabric.switch, nics: one.nics, count: 1 }));
    for (const one of fabric.higher || [])
      switches.push({ name: one.switch, tier: one.tier, part: one.part, nics: [], count: one.switches });
    const alike = (one) => [one.tier, pattern(one.name), one.part, one.nics.length].join(" ");
    return d3.nest().key(alike).entries(switches).map(({ values }) => ({
      kind: "network", tier: values[0].tier, members: values, names: values.map((one) => one.name),
      part: values[0].part,
      nics: values[0].nics.length, count: values.some((one) => one.count === undefined) ? null
        : d3.sum(values, (one) => one.count),
    }));
  };
  const switchLines = (one, fabric) => {
    const isDirect = fabric.kind === "direct";
    const stem = one.names[0].replace(/^.*\//, "").replace(/[\d.].*$/, "");
    const word = stem.length > 1 ? `${stem} switch` : "switch";  // in a torus or dragonfly names are s3 and g0s1
    const title = isDirect ? "NICs joined directly" : one.count === null ? `${stem} (number not stated)`
      : many(one.count, word, `${word}es`);
    const lines = [title];
    if (one.part && !isDirect) lines.push(one.part);
    if (one.names.length > 1) lines.push(numbersText(one.names));
    if (one.nics) lines.push(one.names.length > 1 ? `${many(one.nics, "NIC")} on each` : many(one.nics, "NIC"));
    if (one.inner) lines.push(`${many(one.inner, "cable")} among them`);
    return lines;
  };
  const rateNumber = (text) => {
    const [value, unit] = (text || "").split(" ");
    return Number(value) * ({ "TB/s": 1000, "GB/s": 1, "MB/s": 0.001 }[unit] || NaN);
  };
  // All cables between two classes are one line; those within a class are a text in its box.
  const cableLines = (fabric, classes) => {
    const classOf = new Map();
    for (const one of classes) for (const name of one.names) classOf.set(name, one);
    const joined = new Map();
    for (const cable of fabric.cables || []) {
      const [lower, upper] = cable.between.map((name) => classOf.get(name));
      if (lower === upper) { lower.inner = (lower.inner || 0) + cable.count; continue; }
      const key = `${classes.indexOf(lower)} ${classes.indexOf(upper)}`;
      if (!joined.has(key))
        joined.set(key, { from: upper, to: lower, cables: 0, total: 0, rates: new Set(), counts: new Set() });
      const line = joined.get(key);
      line.cables += cable.count;
      line.total += rateNumber(cable.rate);
      line.counts.add(cable.count);
      if (cable.count) line.rates.add(lanewise.rate(rateNumber(cable.rate) / cable.count));
    }
    return [...joined.values()].map((line) => ({ ...line, text: [
      many(line.cables, "cable")
        + (line.counts.size === 1 && line.to.names.length > 1 ? `, ${[...line.counts][0]} from each` : ""),
      `${[...line.rates].join(" or ")} each${line.cables > 1 ? `, ${totalRate(line.total)} in all` : ""}`] }));
  };
  const totalRate = (gigabytes) => (gigabytes >= 1000 ? `${lanewise.rounded(gigabytes / 1000)} TB/s`
    : lanewise.rate(gigabytes));
  const nicLines = (classes, kindOfNode) => {
    const joined = new Map();
    for (const one of classes) for (const leaf of one.members) for (const entry of leaf.nics) {
      const kind = kindOfNode.get(nodeOf(entry.nic));
      const key = `${classes.indexOf(one)} ${kind.number}`;
      if (!joined.has(key)) joined.set(key, { from: one, to: kind, cables: 0, rates: new Set(), nodes: new Set() });
      const line = joined.get(key);
      ++line.cables;
      line.nodes.add(nodeOf(entry.nic));
      if (entry.rate) line.rates.add(entry.rate);
    }
    return [...joined.values()].map((line) => {
      const each = line.cables / line.nodes.size;
      const text = [many(line.cables, "cable")
        + (Number.isInteger(each) && line.nodes.size > 1 ? `, ${each} to each node` : "")];
      if (line.rates.size) text.push(`${[...line.rates].join(" or ")} each`);
      return { ...line, text };
    });
  };
  const countDevices = (machine, kind) => {
    const inside = (entry) => (entry[kind] !== undefined ? 1 : 0) + d3.sum(entry.ports || [], inside);
    return d3.sum(machine.sockets || [], (socket) => d3.sum(socket.pcie || [], inside));
  };
  const rangeText = (names) => (names.length === 1 ? names[0] : `${names[0]} to ${names[names.length - 1]}`);
  const nodeKinds = (cluster) => cluster.machines.map((entry, number) => {
    const counts = [["gpu", "GPU"], ["nic", "NIC"], ["nvme", "drive"]]
      .map(([kind, word]) => [countDevices(entry.machine, kind), word]);
    return { kind: "node", number, nodes: entry.nodes, machine: entry.machine, count: entry.nodes.length,
      lines: [`${entry.nodes.length} x ${entry.machine.machine}`, rangeText(entry.nodes),
        `each ${counts.filter(([count]) => count).map(([count, word]) => many(count, word)).join(", ")}`] };
  });
  const domainClasses = (cluster, kindOfNode) => {
    const alike = (one) => [one.switch_part, one.part, one.gpus.length, one.gpus[0].count, one.chips].join(" ");
    return d3.nest().key(alike).entries(cluster.domains || []).map(({ values }) => {
      const first = values[0];
      const nodes = new Set(first.gpus.map((one) => nodeOf(one.gpu)));
      const lines = [`${many(values.length, "domain")} of ${first.gpus.length} GPUs`,
        rangeText(values.map((one) => one.domain)),
        `${many(nodes.size, "node")} each; ${first.chips ? `${first.chips} x ` : ""}${first.switch_part}`];
      const kinds = new Set([].concat(...values.map((one) => one.gpus.map((gpu) => kindOfNode.get(nodeOf(gpu.gpu))))));
      return { kind: "domain", count: values.length, lines, kinds: [...kinds],
          text: [`${first.gpus[0].count} x ${first.part} from each GPU`] };
    });
  };

  // ---------------------------------------------------------------------------------- places
  const width = 1340;
  const boxHeight = (box) => 14 + 15 * box.lines.length + (box.count > 1 && box.count <= 32 ? 12 : 0);
  const boxWidth = (box) => Math.max(150, 24 + d3.max(box.lines, (line, i) => lanewise.fitText.textWidth(line,
      i ? 11 : 13) * (i ? 1 : 1.08)));
  const placeRow = (boxes, left, right, y) => {
    const share = (right - left) / Math.max(1, boxes.length);
    boxes.forEach((box, i) => {
      const half = Math.min(share - 12, boxWidth(box)) / 2;
      const at = left + share * (i + 0.5);
      Object.assign(box, { x0: at - half, x1: at + half, y0: y, y1: y + boxHeight(box) });
    });
    return d3.max(boxes, (box) => box.y1) || y;
  };
  const rowGap = 74;
  const place = (fabrics, kinds, domains) => {
    const tiers = 1 + (d3.max(fabrics, (one) => d3.max(one.classes, (box) => box.tier)) ?? -1);
    let y = fabrics.length ? 34 : 10;
    for (let tier = tiers - 1; tier >= 0; --tier) {
      let bottom = y;
      fabrics.forEach((one, i) => {
        const boxes = one.classes.filter((box) => box.tier === tier);
        bottom = Math.max(bottom, placeRow(boxes, (width / fabrics.length) * i, (width / fabrics.length) * (i + 1), y));
      });
      y = bottom + rowGap;
    }
    y = placeRow(kinds, 0, width, y);
    if (domains.length) y = placeRow(domains, 0, width, y + rowGap);
    return y + 10;
  };
  // The first place along a line where its text meets no other text.
  const placeTexts = (lines) => {
    const taken = [];
    for (const line of lines) {
      const half = d3.max(line.text, (text) => lanewise.fitText.textWidth(text, 11)) / 2 + 3;
      const tall = 7 * line.text.length;
      for (const share of [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78]) {
        const beside = Math.abs(line.x2 - line.x1) < 160 ? half + 5 : 0;  // next to steep lines, on flat ones
        const x = Math.max(half, Math.min(width - half, line.x1 + (line.x2 - line.x1) * share + beside));
        const y = line.y1 + (line.y2 - line.y1) * share;
        const area = { x0: x - half, x1: x + half, y0: y - tall, y1: y + tall };
        if (taken.some((one) => one.x0 < area.x1 && one.x1 > area.x0 && one.y0 < area.y1 && one.y1 > area.y0)) continue;
        taken.push(area);
        line.at = { x, y: y - tall + 11 };
        break;
      }
    }
  };
  const placeLines = (lines) => {
    const spread = (side, other, key) => {
      for (const { values } of d3.nest().key((line) => `${line[side].x0} ${line[side].y0}`).entries(lines)) {
        values.sort((a, b) => a[other].x0 + a[other].x1 - b[other].x0 - b[other].x1);
        values.forEach((line, i) => { line[key] = line[side].x0
          + ((line[side].x1 - line[side].x0) * (i + 1)) / (values.length + 1); });
      }
    };
    spread("from", "to", "x1");
    spread("to", "from", "x2");
    for (const line of lines) Object.assign(line, { y1: line.from.y1, y2: line.to.y0 });
    placeTexts(lines);
  };

  // ---------------------------------------------------------------------------------- drawing
  const drawLines = (picture, lines) => {
    const made = picture.append("g").selectAll("g").data(lines).enter().append("g");
    for (const [stroke, extra] of [["var(--faint)", 0], ["transparent", 8]])
      made.append("line").attr("x1", (line) => line.x1).attr("y1", (line) => line.y1).attr("x2", (line) => line.x2)
        .attr("y2", (line) => line.y2)
        .style("stroke", stroke).style("stroke-width",
          (line) => 1.5 + extra + Math.min(6, Math.log2(1 + (line.cables || 1)) / 1.6));
    // What listens to the focus can have it: a browser would stop at every line.
    lanewise.withTip(made, (line) => line.text.join("\n")).attr("tabindex", null).on("focus", null).on("blur", null);
    const texts = made.filter((line) => line.at).selectAll("text").data((line) => line.text.map((text, i) => ({ text,
        x: line.at.x, y: line.at.y + 14 * i })))
      .enter().append("text").attr("x", (one) => one.x).attr("y", (one) => one.y).attr("text-anchor", "middle")
          .style("font-size", "11px").text((one) => one.text);
    lanewise.fitText.halo(texts);
  };
  const drawBoxes = (picture, boxes, onPick) => {
    const made = picture.append("g").selectAll("g").data(boxes).enter().append("g").attr("class", "box")
      .attr("transform", (box) => `translate(${box.x0},${box.y0})`)
      .attr("role", (box) => (box.kind === "node" ? "button" : "img"))
      .style("cursor", (box) => (box.kind === "node" ? "pointer" : null));
    for (const isTint of [false, true])
      made.append("rect").attr("rx", 4).attr("width", (box) => box.x1 - box.x0).attr("height", (box) => box.y1 - box.y0)
        .style("fill", (box) => (isTint ? colours[box.kind] : "var(--ground)")).style("fill-opacity", isTint ? 0.18 : 1)
        .style("stroke", (box) => colours[box.kind]).style("stroke-width", 1.3);
    made.selectAll("text").data((box) => box.lines.map((text, i) => ({ text, i, box }))).enter().append("text")
      .attr("x", (line) => (line.box.x1 - line.box.x0) / 2).attr("y", (line) => 18 + 15 * line.i)
      .attr("text-anchor", "middle")
      .style("font-size", (line) => (line.i ? "11px" : "13px")).style("font-weight", (line) => (line.i ? null : 600))
      .text((line) => lanewise.fitText.shortened(line.text, line.box.x1 - line.box.x0 - 8, line.i ? 11 : 14));
    // Up to 32 of a class show as so many squares.
    made.filter((box) => box.count > 1 && box.count <= 32).selectAll("rect.one")
      .data((box) => d3.range(box.count).map((i) => ({ i, box })))
      .enter().append("rect").attr("class", "one").attr("width", 5).attr("height", 5)
      .attr("y", (one) => boxHeight(one.box) - 13)
      .attr("x", (one) => (one.box.x1 - one.box.x0) / 2 + (Math.min(6,
          (one.box.x1 - one.box.x0 - 10) / one.box.count) * (2 * one.i - one.box.count)) / 2)
      .style("fill", (one) => colours[one.box.kind]).style("stroke", "none");
    lanewise.withTip(made, (box) => box.lines.join("\n"));
    made.filter((box) => box.kind === "node").on("click", onPick)
      .on("keydown", (box) => { if (d3.event.key === "Enter") onPick(box); });
  };
  const readFabrics = (cluster, kindOfNode) => (cluster.fabrics || (cluster.fabric ? [cluster.fabric] : []))
    .map((fabric) => {
    const classes = switchClasses(fabric);
    const lines = [...cableLines(fabric, classes), ...nicLines(classes, kindOfNode)];
    for (const one of classes) one.lines = switchLines(one, fabric);
    const words = [fabric.fabric, lanewise.spaced(fabric.kind)];
    if (fabric.routing) words.push(`routing ${fabric.routing}`);
    if (fabric.flows_per_pair) words.push(`${fabric.flows_per_pair} flows a pair`);
    return { classes, lines, title: words.filter((word) => word).join(", ") };
  });
  const drawNetwork = (root, cluster, kinds, onPick) => {
    const kindOfNode = new Map();
    for (const kind of kinds) for (const node of kind.nodes) kindOfNode.set(node, kind);
    const fabrics = readFabrics(cluster, kindOfNode);
    const domains = domainClasses(cluster, kindOfNode);
    const height = place(fabrics, kinds, domains);
    const lines = [].concat(...fabrics.map((one) => one.lines),
      ...domains.map((one) => one.kinds.map((kind) => ({ from: kind,
        to: one, cables: 8, text: one.text }))));
    placeLines(lines);
    const picture = lanewise.svg(root, width, height, `${cluster.cluster}: its network, nodes and GPU link domains`);
    picture.append("g").selectAll("text").data(fabrics).enter().append("text").attr("class", "label-faint")
      .attr("x", (one, i) => (width / fabrics.length) * (i + 0.5)).attr("y", 16).attr("text-anchor", "middle")
      .text((one) => one.title);
    drawLines(picture, lines);
    drawBoxes(picture, [...[].concat(...fabrics.map((one) => one.classes)), ...kinds, ...domains], onPick);
    const entries = [["network", "network switches"], ["node", "nodes of one kind"],
      ["domain", "GPU link domains (racks)"]];
    lanewise.legend(root, entries.filter(([kind]) =>
      (kind === "network" ? fabrics.length : kind === "domain" ? domains.length : true))
      .map(([kind, text]) => ({ colour: colours[kind], text }))).append("span")
      .text("Up to 32 of a class show as small squares.");
    return picture;
  };

  // One kind of node at a time; the others' buttons open theirs instead.
  const nodeSection = (root, kinds) => {
    const section = lanewise.section(root, "Nodes");
    const bar = section.append("p").attr("class", "no-print");
    const space = section.append("div");
    const buttons = bar.selectAll("button").data(kinds).enter().append("button").attr("type", "button")
      .style("margin-right", ".5rem")
      .text((kind) => kind.lines[0]);
    const open = (wanted) => {
      space.selectAll("*").remove();
      buttons.attr("aria-expanded", (kind) => String(kind === wanted)).style("border-color",
          (kind) => (kind === wanted ? "var(--focus)" : null));
      if (!wanted) return;
      space.append("h3").text(`${wanted.lines[0]}: ${wanted.lines[1]}`);
      lanewise.describeMachine(space.node(), wanted.machine);
    };
    let now = kinds[0];
    buttons.on("click", (kind) => { now = now === kind ? null : kind; open(now); });
    open(now);
    return (kind) => { now = kind; open(kind); section.node().scrollIntoView(); };
  };
  // Draws the network of a cluster into `root`; each kind of node, and notes, into `below`. `onNode` hears of a kind
  // whose box was chosen, after it is shown there. Returns the picture of the network.
  lanewise.drawCluster = (root, below, cluster, onNode = () => {}) => {
    const kinds = nodeKinds(cluster);
    let show = () => {};
    const picture = drawNetwork(root, cluster, kinds, (kind) => {
      show(kind);
      onNode(kind);
    });
    if (cluster.multi_host) d3.select(root).append("p")
        .text(`Adapters that nodes share: ${cluster.multi_host.map((one) => one.nics.join(" and ")).join("; ")}.`);
    show = nodeSection(below, kinds);
    lanewise.writeNotes(below, cluster.notes);
    return picture;
  };
  lanewise.view("cluster-view/1", (root, cluster) => {
    const section = lanewise.section(root, cluster.title || cluster.cluster);
    lanewise.drawCluster(section.node(), root, cluster);
  });
})();
