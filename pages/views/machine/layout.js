// Places the boxes and links of a machine: columns across, rows down, and the path of each link.
(() => {
  const { isGpu } = lanewise.machineGraph;

  // ---------------------------------------------------------------------------------- across: columns
  // Most devices besides GPUs that stand above one another.
  const stackLimit = 4;
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
    const arcs = graph.links.filter((link) => link.isBetweenGpus);
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
    spreadArcs(graph, graph.links.filter((link) => link.isBetweenGpus));
    const distant = distantSockets(graph);
    for (const link of graph.links) {
      const [a, b] = [graph.boxes.get(link.a), graph.boxes.get(link.b)];
      if (!a || !b || link.kind === "inside") continue;
      if (link.kind === "pcie") link.path = pciePath(a, b);
      if (link.kind === "memory") link.path = `M${middle(a)},${a.y1}V${b.y0}`;
      if (link.kind === "socket") link.path = socketPath(graph, link, rows, distant.indexOf(link));
      if (link.kind === "nvport") link.path = `M${middle(a)},${a.y1}V${b.y0}`;
      if (link.kind !== "nvlink") continue;
      if (link.isBetweenGpus) link.path = arcPath(graph, link, rows);
      else link.path = isGpu(a) ? cpuLinkPath(a, b) : cpuLinkPath(b, a);
    }
  };

  // Gives boxes their place (x0, x1, y0, y1) and links their `path` and `label`. What has no place is not drawn.
  // wanted: the width to fill. Returns {width, height} of the drawing.
  lanewise.placeMachine = (graph, wanted) => {
    const width = placeAcross(graph, wanted);
    const rows = placeDown(graph, width);
    placeLinks(graph, rows);
    return { width, height: rows.height };
  };
})();
