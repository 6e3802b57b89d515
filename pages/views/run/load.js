// What a run loads: the busiest resources, engines and when they are idle, and a drawing of the machine in the colours
// of its load, over the whole run or at one moment.
{
  const { section, legend, table, time, bytes, percent, category, choice, bars, grouped, byName } = lanewise;
  const { kMostRows, duration } = lanewise.steps;

  // ---------------------------------------------------------------------------------- resources and engines
  const resourceSection = (root, result) => {
    if (!result.resources || result.resources.length === 0) return;
    const binding = new Map((result.binding || []).map((one) => [one.name, one.share]));
    const made = section(root, "Busiest resources",
      "How much of the run's time a resource was used, in terms of what it can carry.");
    const order = result.resources.slice().sort((a, b) => b.utilisation - a.utilisation);
    const note = (one) => bytes(Math.round(one.bytes))
      + (binding.has(one.name) ? `; decides ${percent(binding.get(one.name), 0)} of the bound` : "");
    bars(made.node(), { label: "the busiest resources", high: Math.max(1, order[0].utilisation),
      tick: (value) => percent(value, 0), width: 520,
      rows: order.slice(0, 20).map((one) => ({ name: one.name, note: note(one),
        bars: [{ value: one.utilisation, text: percent(one.utilisation),
          colour: category(binding.has(one.name) ? 5 : 0) }] })) });
    const entries = [{ colour: category(0), text: "used share of the run" }];
    if (order.some((one) => binding.has(one.name)))
      entries.push({ colour: category(5), text: "also decides the lower bound" });
    legend(made.node(), entries);
    if (order.length <= 20) return;
    const more = made.append("details");
    more.append("summary").text(`All ${grouped(order.length)}`);
    more.on("toggle", () => {
      if (more.select("table").empty())
        table(more.node(), [{ name: "resource", value: (one) => one.name },
          { name: "used", value: (one) => one.utilisation, text: (one) => percent(one.utilisation) },
          { name: "carried", value: (one) => one.bytes, text: (one) => bytes(Math.round(one.bytes)) }],
          order, { most: kMostRows });
    });
  };

  // Spans of a run in which no step holds an engine: [[start, end], ...] in microseconds.
  const idleSpans = (steps, end) => {
    const spans = [];
    let free = 0;
    for (const step of steps.slice().sort((a, b) => a.start_us - b.start_us)) {
      if (step.start_us > free + 1e-9 * end) spans.push([free, step.start_us]);
      free = Math.max(free, step.end_us);
    }
    if (free < end * (1 - 1e-9)) spans.push([free, end]);
    return spans;
  };
  // How many of these steps run at once, at most.
  const mostAtOnce = (steps) => {
    const events = d3.merge(steps.map((step) => [[step.start_us, 1], [step.end_us, -1]]))
      .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    let now = 0;
    return d3.max(events, (event) => (now += event[1]));
  };
  const engineSection = (root, state) => {
    const of = new Map();
    for (const step of state.all)
      for (const engine of step.engines || []) of.set(engine, [...(of.get(engine) || []), step]);
    if (of.size === 0) return;
    const rows = [...of].map(([name, steps]) => {
      const idle = idleSpans(steps, state.end);
      const longest = idle.slice().sort((a, b) => b[1] - b[0] - (a[1] - a[0]))[0];
      return { name, steps: steps.length, atOnce: mostAtOnce(steps), idle: d3.sum(idle, (span) => span[1] - span[0]), longest };
    }).sort((a, b) => byName(a.name, b.name));
    const made = section(root, "Engines",
      "Copy engines of GPUs and the like: a step holds one of them. Idle: none of that name is held.");
    table(made.node(), [
      { name: "engine", value: (row) => row.name },
      { name: "steps", value: (row) => row.steps, text: (row) => grouped(row.steps) },
      { name: "held at once, most", value: (row) => row.atOnce },
      { name: "idle", value: (row) => row.idle, text: (row) => time(row.idle) || "never" },
      { name: "of the run", value: (row) => row.idle / state.end, text: (row) => percent(row.idle / state.end) },
      { name: "longest idle from", value: (row) => (row.longest || [])[0],
        text: (row) => (row.longest ? time(row.longest[0]) || "0 us" : "") },
      { name: "to", value: (row) => (row.longest || [])[1], text: (row) => (row.longest ? time(row.longest[1]) : "") },
    ], rows, { most: kMostRows });
  };

  // ---------------------------------------------------------------------------------- load of the parts
  // What resources can carry, in bytes per microsecond, from what they carried and how busy that made them.
  const capacitiesOf = (result) => new Map(result.resources.filter((one) => one.utilisation > 0)
    .map((one) => [one.name, one.bytes / (one.utilisation * result.makespan_us)]));
  // Load at one moment, of the steps under way at their mean rates.
  const loadAt = (result, capacities, moment) => {
    const load = {};
    for (const step of result.steps) {
      if (step.start_us > moment || moment >= step.end_us || step.demand === undefined) continue;
      const perTime = step.bytes / duration(step);
      for (const [name, weight] of Object.entries(result.demands[step.demand]))
        if (capacities.has(name)) load[name] = (load[name] || 0) + (weight * perTime) / capacities.get(name);
    }
    for (const name of Object.keys(load)) load[name] = Math.min(1, load[name]);
    return load;
  };

  // A machine, or of a cluster that of one node at a time: first of the node with the busiest resource. `changed` gets
  // the drawing whenever it is made anew.
  const drawLoaded = (root, result, machine, changed) => {
    if (!machine.machines) {
      changed(lanewise.drawMachine(root, machine));
      return true;
    }
    const kinds = d3.merge(machine.machines.map((kind) => (kind.nodes || [])
      .map((node) => ({ node, machine: kind.machine }))));
    const sum = (kind) => d3.sum(result.resources.filter((one) => one.name.startsWith(`${kind.node}/`)),
      (one) => one.utilisation);
    const sums = new Map(kinds.map((kind) => [kind.node, sum(kind)]));
    const busiest = kinds.slice().sort((a, b) => sums.get(b.node) - sums.get(a.node))[0];
    if (!busiest || typeof busiest.machine !== "object") return false;
    const controls = d3.select(root).append("p");
    const space = d3.select(root).append("div");
    const draw = (name) => {
      space.selectAll("*").remove();
      changed(lanewise.drawMachine(space.node(), kinds.find((kind) => kind.node === name).machine,
        { prefix: `${name}/` }));
    };
    choice(controls.node(), "node", kinds.map((kind) => ({ value: kind.node, text: kind.node })), busiest.node, draw);
    draw(busiest.node);
    return true;
  };

  // Load over the whole run, or at the moment of the slider. Gives what to call when that moves.
  const loadSection = (root, result, machine, moment) => {
    const nothing = () => {};
    if (!machine || !result.resources || result.resources.length === 0) return nothing;
    const made = section(root, "Load of the machine's parts",
      "Colour shows the busier direction of each part.");
    const whole = {};
    for (const one of result.resources) whole[one.name] = one.utilisation;
    const capacities = capacitiesOf(result);
    let isAtMoment = false;
    let drawing = null;
    let at = moment;
    const controls = made.append("p").attr("class", "no-print");
    const says = made.append("p").attr("class", "note").attr("role", "status");
    const paint = () => {
      says.text(isAtMoment ? `At ${time(at) || "0 us"}.` : "Over the whole run.");
      if (drawing) drawing.update({ load: isAtMoment ? loadAt(result, capacities, at) : whole });
    };
    const isDrawn = drawLoaded(made.node(), result, machine, (drawn) => {
      drawing = drawn;
      paint();
    });
    if (!isDrawn) {
      made.remove();
      return nothing;
    }
    if (!result.demands) {
      controls.remove();
      return nothing;
    }
    choice(controls.node(), "load", [{ value: "run", text: "over the whole run" },
      { value: "moment", text: "at the moment of the slider" }], "run", (value) => {
      isAtMoment = value === "moment";
      paint();
    });
    return (now) => {
      at = now;
      if (isAtMoment) paint();
    };
  };

  lanewise.runLoad = { resourceSection, engineSection, loadSection };
}
