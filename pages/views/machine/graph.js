// Reads a machine's JSON into boxes and links. Nothing here knows where they stand in a drawing.
//   {settings, sockets: [box], boxes: Map of name to box, links: [link]}
// Boxes and links have `loadKeys`: the names of what a run can load there (see marks.js).
(() => {
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
  const isGpu = (box) => box.kind === "gpu";
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
    const isOfGpu = (name) => graph.boxes.has(name) && isGpu(graph.boxes.get(name));
    for (const link of machine.nvlinks || []) {
      if (link.between) {
        const [a, b] = link.between;
        graph.links.push({ kind: "nvlink", a, b, count: link.count, text: nvlinkText(link),
          width: 1.2 + 1.1 * Math.sqrt(link.count), isBetweenGpus: isOfGpu(a) && isOfGpu(b),
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

  lanewise.machineGraph = { kinds, isGpu, read };
})();
