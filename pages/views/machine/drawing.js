// A server as a drawing: sockets with their memory, and below them root ports, PCIe switches, devices and GPU links.
// Other views draw a run's load or a route into it: lanewise.drawMachine(root, machine, {load, route, onPick, width}).
(() => {
  const { isThere } = lanewise;
  const { kinds, read } = lanewise.machineGraph;
  const { loadsOf, litBy } = lanewise.machineMarks;

  // ---------------------------------------------------------------------------------- texts that fit
  const { textWidth, shortened, halo } = lanewise.fitText;
  // Part names break after their hyphens.
  const wrapped = (text, width, size, most) => {
    const lines = [];
    for (const piece of text.split(/(?<=[-/ ])/)) {
      const last = lines.length - 1;
      if (last >= 0 && textWidth(lines[last] + piece, size) <= width) lines[last] += piece;
      else lines.push(piece);
    }
    if (lines.length > most) lines.splice(most - 1, lines.length, lines.slice(most - 1).join(""));
    return lines.map((line) => shortened(line.trim(), width, size));
  };

  // ---------------------------------------------------------------------------------- what hovering tells
  const loadLines = (item) => (item.loads || []).map((one) => `${one.name}: ${lanewise.percent(one.share)}`);
  const boxText = (box) => {
    const entry = box.entry || {};
    const lines = [`${box.name}: ${kinds[box.kind].text}`];
    if (box.part) lines.push(`part ${box.part}`);
    if (box.kind === "nvswitch") lines.push(`${box.gpus.length} GPUs, each by ${box.linkText}`);
    if (box.kind === "chip")
      lines[0] = `${box.name}: joins ${box.switches.map((one) => one.name).join(", ")} inside one chip`;
    if (box.row !== undefined || box.kind === "switch")
      lines.push(`link ${entry.link || "not stated: as its part has it"}${entry.max ? `, could be ${entry.max}` : ""}`);
    if (entry.host_bridge) lines.push(`host bridge ${entry.host_bridge}`);
    if (box.numa !== undefined) lines.push(`NUMA node ${box.numa}${entry.cores ? `, cores ${entry.cores}` : ""}`);
    if (box.acs && box.kind !== "cpu") lines.push(`ACS ${box.acs}${entry.acs ? " (set on this port)" : ""}`);
    const named = { bdf: "PCI address", chip: "on chip", device_name: "named", rail: "rail", rate: "port rate",
      port_of: "second port of",
      firmware: "firmware", memory_numa: "its memory is NUMA node" };
    for (const key of Object.keys(named))
      if (entry[key] !== undefined && box.kind !== "root_port") lines.push(`${named[key]} ${entry[key]}`);
    if (entry.mig) lines.push("MIG is on");
    if (box.off) lines.push("off");
    return [...lines, ...loadLines(box)].join("\n");
  };
  const linkText = (link) => {
    const most = link.max ? `, could be ${link.max}` : "";
    const words = { pcie: `PCIe link ${link.link || "not stated: as the part has it"}${most}`,
      memory: "memory channels", socket: `socket link ${link.text}`, nvlink: link.text, nvport: link.text };
    return [`${link.a} - ${link.b}`, words[link.kind], ...loadLines(link)].join("\n");
  };

  // ---------------------------------------------------------------------------------- drawing
  const drawLinks = (picture, graph) => {
    const shown = graph.links.filter((link) => link.path);
    const made = picture.append("g").selectAll("g").data(shown).enter().append("g");
    // Around each line a second, fainter one: dark and bright amounts both stand out from the ground.
    made.append("path").attr("class", "rim").attr("d", (link) => link.path).style("fill", "none")
      .style("stroke", "var(--faint)");
    made.append("path").attr("class", "core").attr("d", (link) => link.path).style("fill", "none");
    made.append("path").attr("d", (link) => link.path).style("fill", "none").style("stroke", "transparent")
      .style("stroke-width", "11px");
    // What listens to the focus can have it: a browser would stop at every link.
    lanewise.withTip(made, linkText).attr("tabindex", null).on("focus", null).on("blur", null);
    return made;
  };
  const drawLabels = (picture, graph) =>
    halo(picture.append("g").selectAll("text").data(graph.links.filter((link) => link.label)).enter().append("text")
      .attr("x", (link) => link.label.x).attr("y", (link) => link.label.y).attr("text-anchor", "middle")
      .style("font-size", "11px").style("pointer-events", "none").text((link) => link.label.text));
  const labelOf = (box) => {
    const width = box.x1 - box.x0 - 6;
    if (box.kind === "chip")
      return [{ text: shortened(`on one chip: ${box.name.replace(/ fabric$/, "")}`, width / 2 - 20, 10),
        size: 10, y: 11, x: 6 }];
    if (box.kind === "root_port" || box.kind === "bridge")
      return [{ text: shortened(box.name, width, 11), size: 11, y: 13 }];
    const part = box.kind === "nvswitch" ? `${box.part}, ${box.linkText} to each GPU` : box.part
      || (box.kind === "memory" ? "memory" : "");
    const one = `${box.name}  ${part}`;
    const height = box.y1 - box.y0;
    const isWide = ["nvswitch", "switch", "memory"].includes(box.kind) && textWidth(one, 12) <= width;
    if (isWide) return [{ text: one, size: 12, y: height / 2 + 4 }];
    const lines = wrapped(part, width, 10, height > 48 ? 2 : 1);
    const top = (height - 13 - 11 * lines.length) / 2 + 11;
    return [{ text: shortened(box.off ? `${box.name} (off)` : box.name, width, 12), size: 12, y: top, bold: true },
      ...lines.map((text, i) => ({ text, size: 10, y: top + 12 + 11 * i }))];
  };
  const drawBoxes = (picture, graph) => {
    const shown = [...graph.boxes.values()].filter((box) => box.y0 !== undefined && box.x0 !== undefined)
      .sort((a, b) => (a.kind === "chip" ? 0 : 1) - (b.kind === "chip" ? 0 : 1) || a.y0 - b.y0 || a.x0 - b.x0);
    const made = picture.append("g").selectAll("g").data(shown).enter().append("g")
      .attr("transform", (box) => `translate(${box.x0},${box.y0})`).attr("class", "box").attr("role", "img");
    for (const layer of ["ground", "fill"])
      made.append("rect").attr("class", layer).attr("rx", 4).attr("width", (box) => box.x1 - box.x0).attr("height",
          (box) => box.y1 - box.y0)
        .style("fill", (box) => (box.kind === "chip" ? "none" : "var(--ground)"))
        .style("stroke-dasharray", (box) => (box.off || box.kind === "chip" ? "5 3" : null));
    made.selectAll("text").data((box) => labelOf(box).map((line) => ({ ...line, box }))).enter().append("text")
      .attr("x", (line) => line.x || (line.box.x1 - line.box.x0) / 2).attr("y", (line) => line.y)
      .attr("text-anchor", (line) => (line.x ? "start" : "middle")).style("font-size", (line) => `${line.size}px`)
      .style("font-weight", (line) => (line.bold ? 600 : null)).style("pointer-events", "none")
      .text((line) => line.text);
    return lanewise.withTip(made, boxText);
  };
  // The drawing is one stop of the Tab key; arrows then go to the next box in their direction.
  const middle = (box) => (box.x0 + box.x1) / 2;
  const walkByArrows = (boxes) => {
    const nodes = boxes.nodes();
    boxes.attr("tabindex", (box, i) => (i === 0 ? 0 : -1)).on("keydown.walk", function (here) {
      const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[d3.event.key];
      if (!direction) return;
      d3.event.preventDefault();
      // How far apart two ranges are; 0 where they overlap.
      const apart = (low, high, otherLow, otherHigh) => Math.max(0, otherLow - high, low - otherHigh);
      const cost = (box) => {
        const [x, y] = [middle(box) - middle(here), (box.y0 + box.y1 - here.y0 - here.y1) / 2];
        const along = x * direction[0] + y * direction[1];
        const aside = direction[0] ? 20 * apart(here.y0, here.y1, box.y0, box.y1) : 6 * apart(here.x0, here.x1, box.x0,
            box.x1) + Math.abs(x) / 50;
        return along > 4 ? along + aside : Infinity;
      };
      const best = d3.scan(nodes, (a, b) => cost(a.__data__) - cost(b.__data__));
      if (best === undefined || cost(nodes[best].__data__) === Infinity) return;
      boxes.attr("tabindex", -1);
      d3.select(nodes[best]).attr("tabindex", 0);
      nodes[best].focus();
    });
  };
  const makePickable = (boxes, onPick) => boxes.attr("role", "button").style("cursor", "pointer").on("click", onPick)
    .on("keydown.pick", (box) => {
      if (d3.event.key !== "Enter" && d3.event.key !== " ") return;
      d3.event.preventDefault();
      onPick(box);
    });

  // ---------------------------------------------------------------------------------- state of a drawing
  // The share of an item's busiest resource; absent: no resource of it was used.
  const shareOf = (item) => d3.max(item.loads || [], (one) => one.share);
  const paintBoxes = (boxes, state) => {
    const tint = (box) => (state.load ? (shareOf(box) === undefined ? null : lanewise.amount(shareOf(box)))
      : kinds[box.kind].colour);
    boxes.style("opacity", (box) => (state.lit && !state.lit.has(box) ? 0.3 : 1));
    const isPicked = (box) => isThere(state.picked) && state.picked === box.name;
    boxes.select("rect.fill").style("fill", (box) => (box.kind === "chip" ? "none" : tint(box) || "var(--panel)"))
      .style("fill-opacity", state.load ? 1 : 0.2)
      .style("stroke", (box) => (isPicked(box) ? "var(--focus)" : state.lit && state.lit.has(box) ? "var(--bad)"
        : state.load ? (box.kind === "chip" && tint(box)) || "var(--faint)" : tint(box)))
      .style("stroke-width", (box) => (isPicked(box) ? 4 : state.lit && state.lit.has(box) ? 3
        : box.kind === "chip" && state.load && tint(box) ? 3 : 1.2));
    boxes.selectAll("text").style("fill",
        (line) => (state.load && line.box.kind !== "chip" && tint(line.box) ? lanewise.inkOn(tint(line.box))
          : "var(--ink)"));
    boxes.attr("aria-label", boxText);
  };
  const linkColours = { nvlink: lanewise.category(4), nvport: lanewise.category(4), socket: lanewise.category(7),
      memory: lanewise.category(3) };
  const paintLinks = (links, labels, state) => {
    const isLit = (link) => state.lit && state.lit.has(link);
    const width = (link) => link.width + (isLit(link) ? 2.5 : state.load && shareOf(link) !== undefined ? 1.5 : 0);
    const colour = (link) => {
      if (state.load) return shareOf(link) === undefined ? "var(--line)" : lanewise.amount(shareOf(link));
      return isLit(link) ? "var(--bad)" : linkColours[link.kind] || "var(--faint)";
    };
    links.style("opacity", (link) => (state.lit && !isLit(link) ? 0.22 : 1));
    links.select(".core").style("stroke", colour).style("stroke-width", width);
    const rim = (link) => (isLit(link) && state.load ? 5 : state.load && shareOf(link) !== undefined ? 1.6 : 0);
    links.select(".rim").style("stroke", (link) => (isLit(link) ? "var(--bad)" : "var(--faint)"))
      .style("stroke-width", (link) => (rim(link) ? width(link) + rim(link) : 0));
    links.attr("aria-label", linkText);
    labels.style("opacity", (link) => (state.lit && !isLit(link) ? 0.3 : 1));
  };
  const drawLegend = (root, graph, state) => {
    if (state.load) {
      lanewise.amountLegend(root, "0 %", `100 % ${state.loadText || "used"}; thin or without a fill: not used`);
      return;
    }
    const present = new Set([...graph.boxes.values()].map((box) => box.kind));
    const entries = Object.keys(kinds).filter((kind) => present.has(kind) && kind !== "bridge" && kind !== "chip")
      .map((kind) => ({ colour: kinds[kind].colour, text: kinds[kind].text }));
    if (graph.links.some((link) => link.isBetweenGpus))
      entries.push({ colour: linkColours.nvlink, text: "GPU links, and how many" });
    else if (graph.links.some((link) => link.kind === "nvlink"))
      entries.push({ colour: linkColours.nvlink, text: "GPU link" });
    if (state.lit) entries.unshift({ colour: "var(--bad)", text: "the route" });
    lanewise.legend(root, entries).append("span")
      .text("A thicker line is a wider link. Arrow keys go from box to box.");
  };

  // options: {load: {resource: 0..1}, loadText, route: [hop], onPick: (box) => ..., prefix, width}
  // prefix: "node0/" where only that node's names in load and route count
  // Returns {update: ({load, route, picked}) => ..., box: (name) => what stands there, focus: (name) => ...}.
  lanewise.drawMachine = (root, machine, options = {}) => {
    const graph = read(machine);
    const { width, height } = lanewise.placeMachine(graph, options.width || 1330);
    const holder = d3.select(root).append("div");
    const picture = lanewise.svg(holder.node(), width, height, `${machine.machine}: how its parts are joined`);
    const links = drawLinks(picture, graph);
    const labels = drawLabels(picture, graph);
    const boxes = drawBoxes(picture, graph);
    walkByArrows(boxes);
    if (options.onPick) makePickable(boxes, options.onPick);
    const state = { load: null, lit: null, picked: null, loadText: options.loadText };
    const prefix = options.prefix || "";
    const legend = holder.append("div");
    const update = (changed) => {
      if (changed.load !== undefined) state.load = changed.load && loadsOf(changed.load, prefix);
      if (changed.route !== undefined)
        state.lit = changed.route && changed.route.length ? litBy(graph, changed.route, prefix) : null;
      if (changed.picked !== undefined) state.picked = changed.picked;
      for (const item of [...graph.boxes.values(), ...graph.links])
        item.loads = state.load ? [].concat(...item.loadKeys.map((key) => state.load.get(key) || [])) : null;
      paintBoxes(boxes, state);
      paintLinks(links, labels, state);
      const look = `${Boolean(state.load)} ${Boolean(state.lit)}`;
      if (legend.attr("data-look") === look) return;  // a slider changes amounts, not what they mean
      legend.attr("data-look", look);
      legend.selectAll("*").remove();
      drawLegend(legend.node(), graph, state);
    };
    update({ load: options.load || null, route: options.route || null });
    const focus = (name) => {
      const found = boxes.filter((box) => box.name === name);
      if (found.empty()) return;
      boxes.attr("tabindex", -1);
      found.attr("tabindex", 0).node().focus();
    };
    return { update, box: (name) => graph.boxes.get(name), focus };
  };
})();
