// Every pair of places on the page of `lanewise explore`, and the route of the one that is chosen.
(() => {
  const { control, button, fillOptions, show } = lanewise.explore;

  // ---------------------------------------------------------------------------------- every pair
  const drawPairs = (studio, at) => {
    const [is, was] = [studio.now.value("matrix"), studio.then.value("matrix")];
    const trouble = is && (is.cells || is.classes).length === 0 ? "There are no GPUs, and so no pairs of them."
      : studio.now.problem("matrix");
    const key = JSON.stringify([is, was, trouble]);
    if (key === at.drawn) return;
    at.drawn = key;
    at.problem.text(trouble || "");
    if (trouble || !is) {
      at.space.selectAll("*").remove();
      at.matrix = null;
    } else if (at.matrix) at.matrix.update(is, was || null);
    else at.matrix = lanewise.drawMatrix(at.space.node(), is, { before: was || null, width: 260,
      onPick: (from, to) => { Object.assign(studio.state, { from, to }); studio.touch(); } });
  };
  const makePairs = (root, studio) => {
    const section = root.append("section").attr("class", "pairs").attr("aria-label", "every pair");
    const at = { problem: section.append("p").attr("class", "problem"), space: section.append("div"),
      matrix: null, drawn: "" };
    return { draw: () => drawPairs(studio, at) };
  };

  // ---------------------------------------------------------------------------------- the route
  const fillPlaces = (studio, at) => {
    const places = studio.now.places || [];
    const key = places.join(" ");
    for (const end of ["from", "to"]) {
      if (key !== at.drawnPlaces) fillOptions(at.ends[end], places.map((name) => ({ value: name, text: name })));
      if (studio.state[end]) show(at.ends[end], studio.state[end]);
    }
    at.drawnPlaces = key;
  };
  const drawRoute = (studio, at) => {
    const [is, was] = [studio.now.value("route"), studio.then.value("route")];
    at.problem.text(studio.now.problem("route") || "");
    const key = JSON.stringify([is, was, studio.machine.drawn()]);
    if (key === at.drawn) return;
    at.drawn = key;
    at.space.selectAll("*").remove();
    if (is) lanewise.drawRoute(at.space.node(), is, { before: was, width: 640, onShow: studio.machine.showRoute });
    else studio.machine.showRoute(null);
  };
  const makeRoute = (root, studio) => {
    const { state } = studio;
    const section = root.append("section").attr("class", "route");
    const controls = section.append("div").attr("class", "control-row").node();
    const ends = {};
    for (const [end, label] of [["from", "route from"], ["to", "to"]])
      ends[end] = control(controls, label, "select", `route-${end}`)
        .on("change", function () { state[end] = this.value; studio.touch(); });
    button(controls, "turn-route", "turn round", () => {
      [state.from, state.to] = [state.to, state.from];
      studio.touch();
    });
    const at = { ends, problem: section.append("p").attr("class", "problem"), space: section.append("div"),
      drawn: "", drawnPlaces: "" };
    return { draw: () => drawRoute(studio, at), fillPlaces: () => fillPlaces(studio, at) };
  };

  Object.assign(lanewise.explore, { makePairs, makeRoute });
})();
