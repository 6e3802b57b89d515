// A server as a drawing: sockets with their memory, and below them root ports, PCIe switches, devices and GPU links.
// Other views draw a run's load or a route into it: lanewise.drawMachine(root, machine, {load, route, onPick, width}).
(() => {
  const { isThere } = lanewise;
  const kinds = {
    memory: { text: "host memory", colour: lanewise.category(3) },
    cpu: { text: "socket", colour: lanewise.category(7) },
    root_port: { text: "root port", colour: lanewise.category(6) },
    bridge: { text: "host bridge that root ports share", colour: lanewise.category(6) },
    switch: { text: "PCIe switch", colour: lanewise.category(1) },
    chip: { text: "switches on one chip", colour: lanewise.category(1) },
    nic: { text: "NIC", colour: lanewise.category(2) },
    nvme: { text: "drive", colour: "#7a5ea8" },
    device: { text: "other device", colour: lanewise.category(6) },
    gpu: { text: "GPU", colour: lanewise.category(0) },
    nvswitch: { text: "GPU link switch", colour: lanewise.category(4) },
  };
  const deviceKinds = ["switch", "gpu", "nic", "nvme", "device"];

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

  // ---------------------------------------------------------------------------------- the machine as boxes and links
  const laneRates = { 1: 0.25, 2: 0.5, 3: 0.985, 4: 1.97, 5: 3.94, 6: 7.56 };  // GB/s of a lane, for widths only
  const lineWidth = (link) => {
    const found = /gen(\d) x(\d+)/.exec(link || "");
    return found ? 1.4 + 0.57 * Math.sqrt((laneRates[found[1]] || 3.94) * Number(found[2])) : 3;
  };
  const nvlinkText = (link) => `${link.count} x ${link.part || `NVLink ${link.generation}`}`;

  const readDevice = (graph, entry, above) => {
    const kind = deviceKinds.find((one) => entry[one] !== undefined);
    if (!kind) return null;
    const made = { name: entry[kind], kind, part: entry.part, entry, socket: above.socket, numa: above.numa, above,
      acs: entry.acs || graph.settings.acs, off: entry.off === true || above.off === true,
      loadKeys: [`box ${entry[kind]}`] };
    graph.boxes.set(made.name, made);
    graph.links.push({ kind: "pcie", a: above.name, b: made.name, link: entry.link, max: entry.max,
      width: lineWidth(entry.link), loadKeys: [`link ${made.name}`] });
    made.below = (entry.ports || []).map((port) => readDevice(graph, port, made)).filter((one) => one);
    return made;
  };
  const readRootPort = (graph, entry, socket) => {
    const numa = entry.numa;
    if (entry.root_port === undefined) return readDevice(graph, entry, { ...socket, numa, socket: socket.name });
    const made = { name: entry.root_port, kind: "root_port", entry, socket: socket.name, numa,
      acs: entry.acs || graph.settings.acs,
      bridge: entry.host_bridge, loadKeys: [] };
    graph.boxes.set(made.name, made);
    graph.links.push({ kind: "inside", a: socket.name, b: made.name, loadKeys: [] });
    made.below = [readDevice(graph, entry, made)].filter((one) => one);
    return made;
  };
  const readSocket = (graph, entry) => {
    const socket = { name: entry.socket, kind: "cpu", part: entry.part, entry, loadKeys: [`box ${entry.socket}`] };
    graph.boxes.set(socket.name, socket);
    socket.memories = (entry.numa || []).map((numa) => {
      const name = `numa${numa.node}`;
      const made = { name, kind: "memory", entry: numa, numa: numa.node, socket: socket.name,
        loadKeys: [`box ${name}`] };
      graph.boxes.set(name, made);
      graph.links.push({ kind: "memory", a: name, b: socket.name, width: 4, loadKeys: [`box ${name}`] });
      return made;
    });
    // Ports of one host bridge stand side by side, whatever their order in the file.
    const ports = (entry.pcie || []).map((port) => readRootPort(graph, port, socket));
    const bridges = d3.nest().key((port) => port.bridge || port.name).entries(ports.filter((port) => port));
    socket.ports = [].concat(...bridges.map((bridge) => bridge.values));
    socket.bridges = [];
    for (const { key, values } of bridges) {
      if (values.length > 1) {
        const bridge = { name: key, kind: "bridge", socket: socket.name, ports: values, loadKeys: [`bridge ${key}`] };
        socket.bridges.push(bridge);
        graph.boxes.set(key, bridge);
      } else values[0].loadKeys.push(`bridge ${key}`);
    }
    return socket;
  };
  const readGpuLinks = (graph, machine) => {
    for (const link of machine.nvlinks || []) {
      if (link.between) {
        const [a, b] = link.between;
        graph.links.push({ kind: "nvlink", a, b, count: link.count, text: nvlinkText(link),
          width: 1.2 + 1.1 * Math.sqrt(link.count),
          loadKeys: [`nvlink ${a}-${b}`] });
        continue;
      }
      if (!graph.boxes.has(link.switch))
        graph.boxes.set(link.switch, { name: link.switch, kind: "nvswitch", part: link.switch_part, entry: link,
          gpus: [], loadKeys: [] });
      const bar = graph.boxes.get(link.switch);
      bar.linkText = bar.linkText || nvlinkText(link);
      for (const gpu of link.gpus) {
        bar.gpus.push(gpu);
        graph.links.push({ kind: "nvport", a: gpu, b: bar.name, count: link.count, text: nvlinkText(link),
          width: 1.2 + 1.1 * Math.sqrt(link.count), loadKeys: [`nvlink ${gpu}`] });
      }
    }
  };
  const readChips = (graph) => {
    const switches = [...graph.boxes.values()].filter((box) => box.kind === "switch" && box.entry.chip);
    for (const { key, values } of d3.nest().key((box) => box.entry.chip).entries(switches))
      graph.boxes.set(`${key} fabric`, { name: `${key} fabric`, kind: "chip", switches: values,
        loadKeys: values.map((box) => `chip ${box.name}`) });
  };
  const read = (machine) => {
    const graph = { settings: machine.settings || {}, boxes: new Map(), links: [] };
    graph.sockets = (machine.sockets || []).map((entry) => readSocket(graph, entry));
    for (const link of machine.socket_links || [])
      graph.links.push({ kind: "socket", a: link.between[0], b: link.between[1], count: link.count,
        text: `${link.count} x ${link.part}`, width: 2 + link.count, loadKeys: [`socket ${link.between.join("-")}`] });
    readGpuLinks(graph, machine);
    readChips(graph);
    return graph;
  };

  // ---------------------------------------------------------------------------------- across: columns
  // Most devices besides GPUs that stand above one another.
  const stackLimit = 4;
  const isGpu = (box) => box.kind === "gpu";
  // Divides what is below a switch, or a root port, into blocks of devices and of further switches.
  const blocksOf = (below) => {
    const blocks = [];
    for (const box of below) {
      if (box.kind === "switch") blocks.push({ box, blocks: blocksOf(box.below) });
      else if (blocks.length && blocks[blocks.length - 1].devices) blocks[blocks.length - 1].devices.push(box);
      else blocks.push({ devices: [box] });
    }
    for (const block of blocks) {
      if (block.devices) {
        const gpus = block.devices.filter(isGpu).length;
        block.columns = Math.max(1, gpus, Math.ceil((block.devices.length - gpus) / stackLimit));
      } else block.columns = Math.max(1, d3.sum(block.blocks, (inner) => inner.columns));
    }
    return blocks;
  };
  const placeDevices = (block, first, width, left) => {
    const others = block.devices.filter((box) => !isGpu(box));
    const gpus = block.devices.filter(isGpu);
    for (let column = 0; column < block.columns; ++column) {
      const stack = others.filter((box, i) => i % block.columns === column);
      if (gpus[column]) stack.push(gpus[column]);
      const gutter = stack.length > 1 ? 7 * stack.length + 3 : 5;
      stack.forEach((box, row) => {
        box.row = row;
        box.column = first + column;
        box.x0 = left + column * width + gutter;
        box.x1 = left + (column + 1) * width - 9;
        // The lowest box has the outermost lane, so that no line crosses another.
        box.lane = stack.length > 1 ? left + column * width + 3 + 7 * (stack.length - 1 - row) : (box.x0 + box.x1) / 2;
        box.laneRight = left + (column + 1) * width - 4;
      });
    }
  };
  const placeBlocks = (blocks, first, width, left, depth) => {
    for (const block of blocks) {
      if (block.devices) placeDevices(block, first, width, left);
      else {
        const box = block.box;
        Object.assign(box, { depth, x0: left + 3, x1: left + block.columns * width - 6 });
        placeBlocks(block.blocks, first, width, left, depth + 1);
      }
      first += block.columns;
      left += block.columns * width;
    }
  };
  // `wanted`: the width to fill, where the columns allow it.
  const placeAcross = (graph, wanted) => {
    const gap = graph.links.some((link) => link.kind === "socket") ? 110 : 40;
    for (const socket of graph.sockets) {
      for (const port of socket.ports) {
        port.blocks = blocksOf(port.kind === "root_port" ? port.below : [port]);
        port.columns = Math.max(1, d3.sum(port.blocks, (block) => block.columns));
      }
      socket.columns = Math.max(1, d3.sum(socket.ports, (port) => port.columns));
    }
    const columns = d3.sum(graph.sockets, (socket) => socket.columns);
    const gaps = gap * (graph.sockets.length - 1);
    const width = Math.max(80, Math.min(190, (wanted - gaps) / columns));
    let left = 10;
    let first = 0;
    for (const socket of graph.sockets) {
      const used = socket.columns * width;
      const whole = Math.max(used, 170);
      Object.assign(socket, { x0: left, x1: left + whole - 3 });
      socket.memories.forEach((box, i) => Object.assign(box, {
        x0: left + (whole / socket.memories.length) * i, x1: left + (whole / socket.memories.length) * (i + 1) - 3 }));
      let at = left + (whole - used) / 2;
      for (const port of socket.ports) {
        if (port.kind === "root_port") {
          const middle = at + (port.columns * width) / 2 - 2;
          const half = Math.min(46, (port.columns * width) / 2 - 8);
          Object.assign(port, { x0: middle - half, x1: middle + half });
        }
        placeBlocks(port.blocks, first, width, at, 0);
        first += port.columns;
        at += port.columns * width;
      }
      for (const bridge of socket.bridges)
        Object.assign(bridge, { x0: d3.min(bridge.ports, (port) => port.x0) - 3,
          x1: d3.max(bridge.ports, (port) => port.x1) + 3 });
      left += whole + gap;
    }
    return left - gap + 10;
  };

  // ---------------------------------------------------------------------------------- down: rows
  const boxesOf = (graph, test) => [...graph.boxes.values()].filter(test);
  const isArc = (graph, link) => link.kind === "nvlink" && [link.a,
      link.b].every((name) => graph.boxes.has(name) && isGpu(graph.boxes.get(name)));
  const distantSockets = (graph) => graph.links.filter((link) => {
    if (link.kind !== "socket") return false;
    const places = [link.a, link.b].map((name) => graph.sockets.findIndex((socket) => socket.name === name));
    return Math.abs(places[0] - places[1]) > 1;
  });
  // Heights of the rows; the gaps between them grow until the drawing is as tall as 16:9 asks for.
  const rowsOf = (graph, width) => {
    const devices = boxesOf(graph, (box) => box.row !== undefined);
    const gpus = devices.filter(isGpu);
    const others = devices.filter((box) => !isGpu(box));
    const arcs = graph.links.filter((link) => isArc(graph, link));
    const spans = arcs.map((link) => Math.abs(graph.boxes.get(link.a).column - graph.boxes.get(link.b).column));
    const rows = {
      tracks: distantSockets(graph).length, hasBridge: graph.sockets.some((socket) => socket.bridges.length > 0),
      levels: 1 + (d3.max(boxesOf(graph, (box) => box.kind === "switch"), (box) => box.depth) ?? -1),
      others: 1 + (d3.max(others, (box) => box.row) ?? -1), gpus: gpus.length, span: d3.max(spans) || 0,
      bars: boxesOf(graph, (box) => box.kind === "nvswitch").length,
    };
    const fixed = 16 + 34 + 18 * rows.tracks + 44 + (rows.hasBridge ? 17 : 0) + 18 + 36 * rows.levels + 38 * rows.others
      + (gpus.length ? 52 : 0) + (rows.span ? 24 : 0) + 30 * rows.bars;
    const loose = 22 + 30 * (rows.levels + 1) + 16 * rows.span + 26 * rows.bars;
    rows.stretch = Math.max(1, Math.min(2.6, ((width * 9) / 16 - fixed) / loose));
    return rows;
  };
  const setRow = (boxes, y, height) => {
    for (const box of boxes) Object.assign(box, { y0: y, y1: y + height });
    return y + height;
  };
  const placeDown = (graph, width) => {
    const rows = rowsOf(graph, width);
    const gap = 30 * rows.stretch;
    const of = (kind) => boxesOf(graph, (box) => box.kind === kind);
    let y = setRow(of("memory"), 8, 34);
    rows.bandTop = y + 10 * rows.stretch;
    y = setRow(graph.sockets, y + 22 * rows.stretch + 18 * rows.tracks, 44);
    if (rows.hasBridge) y = setRow(of("bridge"), y, 17);
    y = setRow(of("root_port"), y, 18) + gap;
    for (let depth = 0; depth < rows.levels; ++depth)
      y = setRow(boxesOf(graph, (box) => box.kind === "switch" && box.depth === depth), y, 36) + gap;
    for (const box of boxesOf(graph, (one) => one.row !== undefined && !isGpu(one)))
      setRow([box], y + 38 * box.row, 34);
    y += 38 * rows.others;
    if (rows.gpus) y = setRow(of("gpu"), y, 52);
    rows.arcTop = y;
    rows.arcStep = 16 * rows.stretch;
    if (rows.span) y += 24 + rows.arcStep * rows.span;
    for (const bar of of("nvswitch")) {
      const gpus = bar.gpus.map((name) => graph.boxes.get(name)).filter((box) => box && box.x0 !== undefined);
      Object.assign(bar, { x0: d3.min(gpus, (box) => box.x0) - 4, x1: d3.max(gpus, (box) => box.x1) + 4 });
      y = setRow([bar], y + 26 * rows.stretch, 30);
    }
    for (const chip of of("chip")) placeChip(graph, chip);
    rows.height = y + 10;
    return rows;
  };
  // An outline around neighbours on one chip. Where others stand between them there is none, and hovering tells.
  const placeChip = (graph, chip) => {
    const [x0, x1] = [d3.min(chip.switches, (box) => box.x0) - 4, d3.max(chip.switches, (box) => box.x1) + 4];
    const [y0, y1] = [d3.min(chip.switches, (box) => box.y0) - 16, d3.max(chip.switches, (box) => box.y1) + 5];
    const isApart = boxesOf(graph, (box) => box.kind === "switch" && !chip.switches.includes(box))
      .some((box) => box.x0 < x1 && box.x1 > x0 && box.y0 < y1 && box.y1 > y0);
    const isOneSocket = new Set(chip.switches.map((box) => box.socket)).size === 1;
    if (!isApart && isOneSocket) Object.assign(chip, { x0, x1, y0, y1 });
    else for (const box of chip.switches) box.loadKeys.push(`chip ${box.name}`);
  };

  // ---------------------------------------------------------------------------------- lines
  const middle = (box) => (box.x0 + box.x1) / 2;
  const pciePath = (above, below) => {
    if (below.kind === "switch") return `M${middle(below)},${above.y1}V${below.y0}`;
    const isStacked = below.lane < below.x0;
    if (!isStacked) return `M${below.lane},${above.y1}V${below.y0}`;
    const [start, end] = [above.x0, above.x1];
    // A narrow root port does not reach over the lane: the line first goes across.
    const from = below.lane < start || below.lane > end ? `M${middle(above)},${above.y1}V${above.y1 + 8}H${below.lane}`
      : `M${below.lane},${above.y1}`;
    return `${from}V${(below.y0 + below.y1) / 2}H${below.x0}`;
  };
  // Where each arc leaves its GPU: those to the left on the left, and of one direction longer ones around shorter ones.
  const spreadArcs = (graph, arcs) => {
    const ends = [];
    for (const link of arcs) {
      const [a, b] = [graph.boxes.get(link.a), graph.boxes.get(link.b)];
      ends.push({ box: a, other: b, link, side: "xa" }, { box: b, other: a, link, side: "xb" });
    }
    for (const { values } of d3.nest().key((end) => end.box.name).entries(ends)) {
      const isLeft = (end) => end.other.column < end.box.column;
      values.sort((a, b) => isLeft(b) - isLeft(a) || b.other.column - a.other.column);
      values.forEach((end, i) => {
        const reach = ((end.box.x1 - end.box.x0) * 0.8) / Math.max(values.length, 4);
        end.link[end.side] = middle(end.box) + (i - (values.length - 1) / 2) * reach;
      });
    }
  };
  const arcPath = (graph, link, rows) => {
    const span = Math.abs(graph.boxes.get(link.a).column - graph.boxes.get(link.b).column);
    const apex = 20 + rows.arcStep * span;
    const reach = rows.arcTop + apex / 0.75;
    link.label = { x: (link.xa + link.xb) / 2, y: rows.arcTop + apex + 4, text: String(link.count) };
    return `M${link.xa},${rows.arcTop}C${link.xa},${reach} ${link.xb},${reach} ${link.xb},${rows.arcTop}`;
  };
  const socketPath = (graph, link, rows, track) => {
    const [a, b] = [graph.boxes.get(link.a), graph.boxes.get(link.b)].sort((one, other) => one.x0 - other.x0);
    const y = (a.y0 + a.y1) / 2;
    if (track < 0) {
      link.label = { x: (a.x1 + b.x0) / 2, y: y - 7, text: link.text };
      return `M${a.x1},${y}H${b.x0}`;
    }
    const height = rows.bandTop + 18 * track + 9;
    const [from, to] = [a.x1 - 8 - 9 * track, b.x0 + 8 + 9 * track];
    link.label = { x: (a.x1 + graph.sockets[graph.sockets.indexOf(a) + 1].x0) / 2, y: height + 4, text: link.text };
    return `M${from},${a.y0}V${height}H${to}V${b.y0}`;
  };
  // A GPU's own link to a socket, NVLink-C2C or NVLink of a POWER9: on the free side of the GPU's column.
  const cpuLinkPath = (gpu, socket) => {
    const isBelow = gpu.laneRight > socket.x0 && gpu.laneRight < socket.x1 + 4;
    const x = Math.min(gpu.laneRight, isBelow ? socket.x1 : gpu.laneRight);
    const from = isBelow ? `M${x},${socket.y1}` : `M${middle(socket)},${socket.y1}L${x},${socket.y1 + 30}`;
    return `${from}V${(gpu.y0 + gpu.y1) / 2}H${gpu.x1}`;
  };
  const placeLinks = (graph, rows) => {
    spreadArcs(graph, graph.links.filter((link) => isArc(graph, link)));
    const distant = distantSockets(graph);
    for (const link of graph.links) {
      const [a, b] = [graph.boxes.get(link.a), graph.boxes.get(link.b)];
      if (!a || !b || link.kind === "inside") continue;
      if (link.kind === "pcie") link.path = pciePath(a, b);
      if (link.kind === "memory") link.path = `M${middle(a)},${a.y1}V${b.y0}`;
      if (link.kind === "socket") link.path = socketPath(graph, link, rows, distant.indexOf(link));
      if (link.kind === "nvport") link.path = `M${middle(a)},${a.y1}V${b.y0}`;
      if (link.kind !== "nvlink") continue;
      if (isArc(graph, link)) link.path = arcPath(graph, link, rows);
      else link.path = isGpu(a) ? cpuLinkPath(a, b) : cpuLinkPath(b, a);
    }
  };

  // ---------------------------------------------------------------------------------- load and route
  // The element that a resource of a run belongs to. Engines are counted, not carried: they colour nothing.
  const resourceRules = [
    [/^(.+)\.(?:pcie\.(?:up|down)|host\.both|remote\.(?:out|in|both)|driver_staging)$/, "link"],
    [/^(.+)\.fabric\.(?:out|in)$/, "chip"],
    [/^(.+)\.nvlink\.(?:out|in|both|forth|back)$/, "nvlink"],
    [/^(.+)\.(?:host\.(?:writes|reads|traffic)|iommu)$/, "box"],
    [/^(.+)\.peer\.(?:forth|back|both)$/, "socket"],
    [/^(.+)\.(?:peer|memory)\.(?:in|out)$/, "bridge"],
    [/^(.+)\.(?:forth|back)$/, "socket"],
    [/^(.+)\.(?:memory|reads|writes|(?:wire|port\d+)\.(?:out|in))$/, "box"],
  ];
  // Both ways of naming the two ends lead to the same link.
  const swapped = (key) => key.replace(/^(nvlink|socket) ([^-]+)-(.+)$/, "$1 $3-$2");
  const elementLoads = (load, prefix) => {
    const loads = new Map();
    for (const name of Object.keys(load)) {
      if (prefix ? !name.startsWith(prefix) : name.includes("/")) continue;
      const plain = name.slice(prefix.length);
      for (const [pattern, kind] of resourceRules) {
        const found = pattern.exec(plain);
        if (!found) continue;
        const keys = new Set([`${kind} ${found[1]}`, swapped(`${kind} ${found[1]}`)]);
        for (const key of keys) loads.set(key, [...(loads.get(key) || []), { name: plain, share: load[name] }]);
        break;
      }
    }
    return loads;
  };
  // The shortest way from one box of a route to the next, as links and the boxes between them. A route leaves boxes out
  // where they are clear: the socket beside a memory. It goes by a GPU link only where a hop says so, and then not by
  // PCIe.
  const wayBetween = (graph, from, to, isByGpuLink) => {
    const isOpen = (link) => (isByGpuLink ? link.kind !== "pcie" && link.kind !== "inside" : link.kind !== "nvlink");
    const reached = new Map([[from, null]]);
    const queue = [from];
    while (queue.length && !reached.has(to)) {
      const here = queue.shift();
      if (here !== from && isGpu(graph.boxes.get(here))) continue;  // nothing passes a GPU that the route does not name
      for (const link of graph.links) {
        if (!isOpen(link) || (link.a !== here && link.b !== here)) continue;
        const next = link.a === here ? link.b : link.a;
        if (reached.has(next) || !graph.boxes.has(next)) continue;
        reached.set(next, { link, here });
        queue.push(next);
      }
    }
    const found = [];
    for (let at = to; reached.get(at); at = reached.get(at).here) found.push(reached.get(at).link, graph.boxes.get(at));
    return found;
  };
  const isBundle = (hop) => / x\d+$/.test(hop);  // "nvlink-2 x2"
  const litBy = (graph, route, prefix) => {
    const lit = new Set();
    let before = null;
    let isByGpuLink = false;
    let isInsideChip = false;
    for (const hop of route) {
      if (prefix && hop.includes("/") && !hop.startsWith(prefix)) { before = null; continue; }
      const plain = (prefix && hop.startsWith(prefix) ? hop.slice(prefix.length) : hop).replace(/ memory$/, "");
      const box = graph.boxes.get(plain);
      isByGpuLink = isByGpuLink || isBundle(hop);
      if (!box) {
        // Words for links: what is on both sides of them says which. Anything else is the network, outside this server.
        if (!isBundle(hop) && hop !== "socket link") before = null;
        continue;
      }
      lit.add(box);
      isInsideChip = isInsideChip || box.kind === "chip";
      if (box.kind === "chip") continue;
      if (before && before !== box && !isInsideChip)
        for (const item of wayBetween(graph, before.name, box.name, isByGpuLink)) lit.add(item);
      before = box;
      isByGpuLink = false;
      isInsideChip = false;
    }
    return lit;
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
      lanewise.amountLegend(root, "0 %", `100 % ${state.loadText || "used"}; grey: none`);
      return;
    }
    const present = new Set([...graph.boxes.values()].map((box) => box.kind));
    const entries = Object.keys(kinds).filter((kind) => present.has(kind) && kind !== "bridge" && kind !== "chip")
      .map((kind) => ({ colour: kinds[kind].colour, text: kinds[kind].text }));
    if (graph.links.some((link) => isArc(graph, link)))
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
    const width = placeAcross(graph, options.width || 1330);
    const rows = placeDown(graph, width);
    placeLinks(graph, rows);
    const holder = d3.select(root).append("div");
    const picture = lanewise.svg(holder.node(), width, rows.height, `${machine.machine}: how its parts are joined`);
    const links = drawLinks(picture, graph);
    const labels = drawLabels(picture, graph);
    const boxes = drawBoxes(picture, graph);
    walkByArrows(boxes);
    if (options.onPick) makePickable(boxes, options.onPick);
    const state = { load: null, lit: null, picked: null, loadText: options.loadText };
    const prefix = options.prefix || "";
    const legend = holder.append("div");
    const update = (changed) => {
      if (changed.load !== undefined) state.load = changed.load && elementLoads(changed.load, prefix);
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

  // ---------------------------------------------------------------------------------- the view of one server
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
