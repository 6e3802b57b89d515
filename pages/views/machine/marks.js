// Which boxes and links of a machine a run loads, and which a route passes.
(() => {
  const { isGpu } = lanewise.machineGraph;

  // ---------------------------------------------------------------------------------- load
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
  const loadsOf = (load, prefix) => {
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

  // ---------------------------------------------------------------------------------- route
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

  lanewise.machineMarks = { loadsOf, litBy };
})();
