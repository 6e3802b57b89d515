// Draws set_report/1 (lanewise report): many transfers at once against their lower bound; and library_report/1: what a
// library does with collectives, beside the best plan.
{
  const { section, facts, legend, amountLegend, table, time, rate, bytes, percent, rounded, amount, category, inkOn,
    grouped, isThere, spaced } = lanewise;
  const unique = (rows, key) => [...new Set(rows.map((row) => row[key]))];

  // ---------------------------------------------------------------------------------- a grid of machines by kinds
  // grid: {rows, columns, cell: (row, column) => {share, text, tip} or nothing, label, onRow}
  const drawGrid = (root, grid) => {
    const left = d3.max(grid.rows, (row) => lanewise.widthOf(row)) + 14;
    const across = Math.max(74, d3.max(grid.columns, (column) => lanewise.widthOf(column)) + 16);
    const drawn = lanewise.svg(root, left + across * grid.columns.length + 2, 24 + grid.rows.length * 20, grid.label);
    drawn.selectAll("text.column").data(grid.columns).enter().append("text").attr("class", "column")
      .attr("text-anchor", "middle")
      .attr("x", (column, i) => left + (i + 0.5) * across).attr("y", 14).text((column) => column);
    const names = drawn.selectAll("text.row").data(grid.rows).enter().append("text").attr("class", "row")
      .attr("text-anchor", "end")
      .attr("x", left - 8).attr("y", (row, i) => 24 + i * 20 + 14).text((row) => row);
    names.attr("role", "button").attr("tabindex", 0).style("cursor", "pointer").style("text-decoration", "underline")
      .on("click", grid.onRow)
      .on("keydown", (row) => { if (d3.event.key === "Enter") grid.onRow(row); });
    const cells = [];
    grid.rows.forEach((row, r) => grid.columns.forEach((column, c) => {
      const cell = grid.cell(row, column);
      if (cell) cells.push({ ...cell, x: left + c * across, y: 24 + r * 20 });
    }));
    const made = drawn.selectAll("g.cell").data(cells).enter().append("g").attr("class", "cell").attr("role", "img")
      .attr("transform", (cell) => `translate(${cell.x},${cell.y})`);
    const fill = (cell) => (isThere(cell.share) ? amount(cell.share) : null);
    made.append("rect").attr("width", across - 1).attr("height", 19)
      .style("fill", (cell) => fill(cell) || "transparent");
    made.append("text").attr("x", across / 2).attr("y", 14).attr("text-anchor", "middle").text((cell) => cell.text)
      .style("fill", (cell) => (fill(cell) ? inkOn(fill(cell)) : "var(--faint)"));
    lanewise.withTip(made, (cell) => cell.tip);
    // One stop of the Tab key for all: hundreds of stops would keep the keyboard from what follows.
    walkCells(made, across);
  };
  const walkCells = (cells, across) => {
    const nodes = cells.nodes();
    cells.attr("tabindex", (cell, i) => (i === 0 ? 0 : -1)).on("keydown", function (here) {
      const direction = { ArrowLeft: [-across, 0], ArrowRight: [across, 0], ArrowUp: [0, -20],
        ArrowDown: [0, 20] }[d3.event.key];
      if (!direction) return;
      d3.event.preventDefault();
      const next = nodes.find(({ __data__: cell }) => Math.abs(cell.x - here.x - direction[0]) < 1
        && Math.abs(cell.y - here.y - direction[1]) < 1);
      if (!next) return;
      d3.select(this).attr("tabindex", -1);
      d3.select(next).attr("tabindex", 0);
      next.focus();
    });
  };

  // One machine at a time, by a list or by what is above. Returns the function that shows one.
  const byMachine = (made, rows, draw) => {
    const machines = unique(rows, "machine");
    const controls = made.append("p");
    const space = made.append("div");
    const show = (machine) => {
      space.selectAll("*").remove();
      draw(space.node(), rows.filter((row) => row.machine === machine));
    };
    if (machines.length === 1) {
      show(machines[0]);
      return show;
    }
    const list = lanewise.choice(controls.node(), "machine", machines.map((value) => ({ value, text: value })),
      machines[0],
      show);
    show(machines[0]);
    return (machine) => {
      list.property("value", machine);
      show(machine);
      made.node().scrollIntoView();
    };
  };

  // ---------------------------------------------------------------------------------- sets of transfers
  const setTip = (set) => [`${set.machine}: ${set.set}, ${grouped(set.transfers)} transfers`,
    `planned ${time(set.makespan_us)}, lower bound ${time(set.bound_us)}: gap ${percent(set.gap)}`,
    `all at once ${time(set.at_once_us)}: planning gains a factor of ${rounded(set.gain)}`,
    `best simple algorithm, ${set.simple}: ${time(set.simple_us)}, regret ${percent(set.regret)}`].join("\n");

  const drawSets = (root, sets) => {
    const series = [["bound_us", "lower bound", 6], ["makespan_us", "as planned", 0],
      ["simple_us", "best simple algorithm", 1], ["at_once_us", "all at once", 5]];
    legend(root, series.map(([, text, colour]) => ({ colour: category(colour), text })));
    lanewise.bars(root, { label: "time of each set of transfers", tick: time, width: 560, rows: sets.map((set) => ({
      name: set.set, tip: setTip(set),
      note: `${grouped(set.transfers)} transfers, gap ${percent(set.gap)}, gain ${rounded(set.gain)} x`
        + (set.regret > 0.0005 ? `, regret ${percent(set.regret)}` : ""),
      bars: series.map(([key, , colour]) => ({ value: set[key], colour: category(colour),
        text: time(set[key]) + (key === "simple_us" ? `, ${set.simple}` : "") })) })) });
  };

  const setOverview = (root, sets, show) => {
    const made = section(root, "Gaps of all machines",
      "How much longer each set takes than its lower bound. A machine's name shows it below.");
    const most = Math.max(0.01, d3.quantile(sets.map((set) => set.gap).sort(d3.ascending), 0.98));
    amountLegend(made.node(), "0 %", `${percent(most, 0)} and more`);
    const found = new Map(sets.map((set) => [`${set.machine}|${set.set}`, set]));
    drawGrid(made.node(), { rows: unique(sets, "machine"), columns: unique(sets, "set"),
      label: "gap by machine and set",
      onRow: (row) => show(row),
      cell: (row, column) => {
        const set = found.get(`${row}|${column}`);
        return set && { share: set.gap / most, text: percent(set.gap), tip: setTip(set) };
      } });
  };

  lanewise.view("set_report/1", (root, result) => {
    const { sets, summary } = result;
    const machines = unique(sets, "machine");
    const made = section(root, machines.length === 1 ? `Many transfers at once on ${machines[0]}`
      : `Many transfers at once on ${machines.length} machines`,
      { sim: "simulated", estimate: "as the planner estimates" }[result.mode] || "");
    if (sets.length === 0) return made.append("p").text("No machine has two GPUs.");
    facts(made.node(), [["sets", grouped(summary.sets)], ["median gap to the bound", percent(summary.median_gap)],
      ["90 % of gaps below", percent(summary.p90_gap)],
      ["worst gap", percent(summary.worst_gap)], ["median gain by planning", `${rounded(summary.median_gain)} x`],
        ["worst regret", percent(summary.worst_regret)]]);
    let show = () => {};
    if (machines.length > 1) setOverview(root, sets, (machine) => show(machine));
    show = byMachine(section(root, "Bound, plan and others",
      "The regret is that of the plan against the best simple algorithm; the gain that over a start of all at once."),
      sets,
        drawSets);
    table(section(root, "All sets").node(), [{ name: "machine", value: (set) => set.machine },
      { name: "set", value: (set) => set.set },
      { name: "transfers", value: (set) => set.transfers },
      { name: "planned", value: (set) => set.makespan_us, text: (set) => time(set.makespan_us) },
      { name: "lower bound", value: (set) => set.bound_us, text: (set) => time(set.bound_us) },
      { name: "gap", value: (set) => set.gap, text: (set) => percent(set.gap) },
      { name: "all at once", value: (set) => set.at_once_us, text: (set) => time(set.at_once_us) },
      { name: "gain", value: (set) => set.gain, text: (set) => `${rounded(set.gain)} x` },
      { name: "simple algorithm", value: (set) => set.simple },
      { name: "takes", value: (set) => set.simple_us, text: (set) => time(set.simple_us) },
      { name: "regret", value: (set) => set.regret, text: (set) => percent(set.regret) }], sets);
  });

  // ---------------------------------------------------------------------------------- collectives of a library
  const ratioOf = (row) => (isThere(row.time_us) && row.best_us > 0 ? row.time_us / row.best_us : undefined);
  const bySize = (row) => `${spaced(row.op)}, ${bytes(row.bytes)}`;
  const rowTip = (row) => (row.refused ? `${bySize(row)}: ${row.library} does not do it: ${row.refused}`
    : [`${row.machine}: ${bySize(row)}`,
      `${row.library}, ${row.algorithm} ${row.protocol}: ${time(row.time_us)}, `
        + `bus bandwidth ${rate(row.bus_bandwidth_GBps)}`,
      row.best_us > 0 ? `best plan ${time(row.best_us)}: the library takes ${rounded(ratioOf(row))} times as long`
        : "no best plan"].join("\n"));

  const drawCollectives = (root, rows) => {
    legend(root, [{ colour: category(1), text: unique(rows, "library").join(", ") },
      { colour: category(0), text: "best plan" }]);
    lanewise.bars(root, { label: "library and best plan, by collective and size", tick: time, width: 520,
      rows: rows.map((row) => ({
      name: bySize(row), tip: rowTip(row),
      note: row.refused ? row.refused
        : `${row.algorithm} ${row.protocol}, ${rate(row.bus_bandwidth_GBps)} bus bandwidth; library / best `
          + (isThere(ratioOf(row)) ? ratioOf(row).toFixed(2) : "unknown"),
      bars: [{ value: row.time_us, text: isThere(row.time_us) ? time(row.time_us) : "refused", colour: category(1) },
        { value: row.best_us, text: row.best_us > 0 ? time(row.best_us) : "none", colour: category(0) }] })) });
  };

  const libraryOverview = (root, rows, show) => {
    const made = section(root, "Library over best plan, of all machines",
      "Above 1 the library takes longer than the best plan. A machine's name shows it below.");
    const ratios = rows.map(ratioOf).filter(isThere).sort(d3.ascending);
    const most = Math.max(1.1, d3.quantile(ratios, 0.95) || 1.1);
    const least = Math.min(1, ratios[0] || 1);
    amountLegend(made.node(), rounded(least), `${rounded(most)} and more (logarithmic)`);
    const found = new Map(rows.map((row) => [`${row.machine}|${bySize(row)}`, row]));
    drawGrid(made.node(), { rows: unique(rows, "machine"), columns: [...new Set(rows.map(bySize))],
      label: "library over best plan", onRow: (row) => show(row),
      cell: (machine, column) => {
        const row = found.get(`${machine}|${column}`);
        if (!row) return undefined;
        const ratio = ratioOf(row);
        return { share: isThere(ratio) ? Math.log(ratio / least) / Math.log(most / least) : undefined,
          text: isThere(ratio) ? ratio.toFixed(2) : row.refused ? "refused" : "", tip: rowTip(row) };
      } });
  };

  lanewise.view("library_report/1", (root, result) => {
    const rows = result.collectives;
    const machines = unique(rows, "machine");
    const libraries = unique(rows, "library").join(", ") || "a library";
    const where = machines.length === 1 ? `, on ${machines[0]}` : "";
    const made = section(root, `Collectives by ${libraries} beside the best plan${where}`, "Both by estimate.");
    if (rows.length === 0) return made.append("p").text("No machine has two GPUs.");
    const ratios = rows.map(ratioOf).filter(isThere).sort(d3.ascending);
    const pairs = [["collectives", grouped(rows.length)]];
    if (ratios.length > 0)
      pairs.push(["median of library / best", ratios.length ? d3.median(ratios).toFixed(2) : ""],
        ["worst", d3.max(ratios).toFixed(2)], ["lowest", d3.min(ratios).toFixed(2)]);
    const refused = rows.filter((row) => row.refused).length;
    if (refused > 0) pairs.push(["refused", grouped(refused)]);
    facts(made.node(), pairs);
    let show = () => {};
    if (machines.length > 1) libraryOverview(root, rows, (machine) => show(machine));
    show = byMachine(section(root, "Library and best plan"), rows, drawCollectives);
    table(section(root, "All collectives").node(),
      [{ name: "machine", value: (row) => row.machine },
        { name: "collective", value: (row) => spaced(row.op) },
        { name: "size", value: (row) => row.bytes, text: (row) => bytes(row.bytes) },
        { name: "library", value: (row) => row.library },
        { name: "does it by", value: (row) => (row.refused ? row.refused : `${row.algorithm} ${row.protocol}`),
        wrap: true },
      { name: "time", value: (row) => row.time_us, text: (row) => time(row.time_us) },
      { name: "bus bandwidth", value: (row) => row.bus_bandwidth_GBps, text: (row) => rate(row.bus_bandwidth_GBps) },
      { name: "best plan", value: (row) => row.best_us, text: (row) => time(row.best_us) },
      { name: "library / best", value: ratioOf,
        text: (row) => (isThere(ratioOf(row)) ? ratioOf(row).toFixed(2) : "") }], rows);
  });
}
