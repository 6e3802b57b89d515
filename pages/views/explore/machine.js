// The drawing of the machine on the page of `lanewise explore`, and beside it the panel of the box that is picked.
(() => {
  const { control, button, fillOptions, show, kAsFile } = lanewise.explore;
  const kColumn = 880;  // a drawing of a machine that is so wide can be read in a column of the page

  // ---------------------------------------------------------------------------------- a cluster
  // A network that is narrow need not be drawn as small as one that is wide.
  const cropToContent = (picture) => {
    const { x, width } = picture.getBBox();
    const { y, height } = picture.viewBox.baseVal;
    picture.setAttribute("viewBox", `${x - 4} ${y} ${width + 8} ${height}`);
    picture.setAttribute("width", width + 8);
  };
  // The network; every kind of node is folded until the box of one is chosen.
  const drawCluster = (root, cluster) => {
    const network = d3.select(root).append("section");
    const more = d3.select(root).append("details");
    more.append("summary").text("Every kind of node, and notes");
    const picture = lanewise.drawCluster(network.node(), more.node(), cluster, () => {
      more.node().open = true;
      more.node().scrollIntoView({ block: "nearest" });
    });
    cropToContent(picture.node());
  };

  // ---------------------------------------------------------------------------------- what a box offers
  // Every link up to a limit: "gen5 x16" allows gen1 to gen5 and 1 to 16 lanes.
  const linksUpTo = (limit) => {
    const [, most, widest] = /gen(\d+) x(\d+)/.exec(limit || "") || [null, 6, 16];
    return d3.cross(d3.range(Number(most), 0, -1), [16, 8, 4, 2, 1].filter((lanes) => lanes <= Number(widest)))
      .map(([generation, lanes]) => `gen${generation} x${lanes}`);
  };
  // What can be chosen at a box: [{id, label, key of the setting, what the file has, values}]
  const choicesAt = (name, box, parts, linkLimit) => {
    const isDevice = box.row !== undefined || box.kind === "switch";
    const found = [];
    if (isDevice) found.push({ id: "box-link", label: "link", key: `link@${name}`, present: box.entry.link,
      values: linksUpTo(linkLimit) });
    if (parts) found.push({ id: "box-part", label: "part", key: `part@${name}`, present: box.part, values: parts });
    if (isDevice || box.kind === "root_port") found.push({ id: "box-acs", label: "ACS at this port",
      key: `acs@${name}`, present: box.entry.acs, values: ["on", "off"] });
    return found;
  };
  const canFail = (box) => box.row !== undefined || box.kind === "switch" || box.kind === "nvswitch";

  // ---------------------------------------------------------------------------------- the panel
  const pick = (studio, at, name, isByKey) => {
    at.picked = name;
    if (at.drawing) at.drawing.update({ picked: name });
    drawPanel(studio, at);
    const first = at.panel.select(".control-row select, .control-row button").node()
      || at.panel.select("button").node();
    if (isByKey && first) first.focus();
  };
  const closePanel = (studio, at) => {
    const name = at.picked;
    pick(studio, at, null);
    lanewise.hideTip();
    if (at.drawing && name) at.drawing.focus(name);
  };
  const drawChoices = (studio, at, row, box) => {
    const { settings } = studio.state;
    const name = at.picked;
    if (!settings.has(`link@${name}`)) at.linkLimits.set(name, box.entry.max || box.entry.link);
    const parts = box.kind === "nvswitch" ? null : studio.start.parts[box.kind];  // no setting replaces one
    for (const one of choicesAt(name, box, parts, at.linkLimits.get(name))) {
      const set = settings.get(one.key) || "";
      const list = fillOptions(control(row, one.label, "select", one.id),
        [{ value: "", text: one.present && !set ? `${kAsFile} (${one.present})` : kAsFile },
          ...one.values.map((value) => ({ value, text: value }))]);
      show(list, set);
      list.on("change", function () { studio.change(one.key, this.value); });
    }
  };
  const drawActions = (studio, at, row, box) => {
    const { state } = studio;
    const name = at.picked;
    const offKey = `off@${name}`;
    const isOff = state.settings.has(offKey);
    if (isOff || (box && canFail(box)))
      button(row, "box-fail", isOff ? "let it work again" : "let it fail",
        () => studio.change(offKey, isOff ? "" : "true"));
    if (!(studio.now.places || []).includes(name)) return;
    for (const end of ["from", "to"])
      button(row, `box-${end}`, `route ${end} here`, () => { state[end] = name; studio.touch(); })
        .attr("aria-pressed", String(state[end] === name));
  };
  const drawPanel = (studio, at) => {
    const { panel, picked } = at;
    const { state, now } = studio;
    const box = picked && at.drawing ? at.drawing.box(picked) : undefined;
    // Only where it changes: a list that is unfolded would be folded.
    const key = JSON.stringify([picked, box ? [box.kind, box.entry] : null, [...state.settings], now.places,
      state.from, state.to]);
    if (key === at.drawnPanel) return;
    at.drawnPanel = key;
    const focused = panel.node().contains(document.activeElement) ? document.activeElement.id : "";
    panel.selectAll("*").remove();
    panel.property("hidden", !picked);
    if (!picked) return;
    const head = panel.append("div").attr("class", "panel-head");
    head.append("b").text(picked);
    head.append("span").text(!box ? "is not in the machine now" : box.part || "");
    button(head.node(), "panel-close", "\u00d7", () => closePanel(studio, at)).attr("aria-label", "close");
    const row = panel.append("div").attr("class", "control-row").node();
    if (box && box.entry) drawChoices(studio, at, row, box);
    drawActions(studio, at, row, box);
    if (row.children.length === 0) panel.append("p").attr("class", "note").text("Nothing of it can be changed here.");
    if (focused) (document.getElementById(focused) || panel.select("button").node()).focus();
  };

  // ---------------------------------------------------------------------------------- the drawing
  const drawMachine = (studio, at) => {
    const machine = studio.now.value("machine");
    if (!machine) return;
    const route = studio.now.value("route");
    const isCluster = machine.lanewise === "cluster-view/1";
    const names = route ? lanewise.namesOfRoute(route) : [studio.state.from, studio.state.to];
    const nodes = isCluster ? [...new Set(names.map((name) => name.split("/")[0]))] : [];
    const key = JSON.stringify([machine, nodes]);
    if (key === at.drawn) return;
    at.drawn = key;
    const hadFocus = at.space.node().contains(document.activeElement);
    lanewise.hideTip();
    at.title.text(machine.title || machine.machine || machine.cluster);
    at.space.selectAll("*").remove();
    if (isCluster) drawCluster(at.space.append("div").node(), machine);
    at.drawing = lanewise.drawNodes(at.space.node(), machine, names, { width: kColumn,
      onPick: (box) => pick(studio, at, box.name, d3.event.type === "keydown") });
    at.drawing.update({ picked: at.picked });
    if (hadFocus && at.picked) at.drawing.focus(at.picked);
    drawPanel(studio, at);
  };
  const makeMachine = (root, studio) => {
    const section = root.append("section").attr("class", "machine");
    const at = { title: section.append("h2").text("Machine"),
      space: section.append("div").attr("class", "machine-space"),
      panel: section.append("div").attr("class", "panel").attr("id", "panel").property("hidden", true),
      drawing: null, drawn: "", drawnPanel: "",
      picked: null,  // the name of a box
      linkLimits: new Map() };  // of boxes: their links before the page made others
    at.panel.on("keydown", () => { if (d3.event.key === "Escape") closePanel(studio, at); });
    return {
      draw: () => drawMachine(studio, at),
      drawPanel: () => drawPanel(studio, at),
      drawn: () => at.drawn,  // "": nothing yet
      showRoute: (hops) => { if (at.drawing) at.drawing.update({ route: hops }); },
      forgetPicked: () => {
        at.picked = null;
        at.linkLimits.clear();
      },
    };
  };

  Object.assign(lanewise.explore, { makeMachine });
})();
