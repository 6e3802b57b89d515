// Draws verdict/1 (lanewise check): what was expected of each scenario, and what was found. Failures come first.
{
  const { section, facts, table, time, rate, bytes, percent, category, grouped, isThere } = lanewise;

  // ---------------------------------------------------------------------------------- words and marks of a verdict
  // A mark of another shape beside the word: colour alone tells too little.
  const marks = {
    passed: { mark: "\u2713", colour: "var(--good)" }, FAILED: { mark: "\u2717", colour: "var(--bad)" },
    "not judged": { mark: "\u2013", colour: "var(--faint)" }, skipped: { mark: "\u2013", colour: "var(--faint)" },
    refused: { mark: "\u2298", colour: "var(--faint)" },
  };
  const verdictText = (word) => `${marks[word].mark} ${word}`;
  const wordOf = (passed) => (isThere(passed) ? (passed ? "passed" : "FAILED") : "not judged");
  const wordOfRun = (run) => (!run.passed ? "FAILED" : run.skipped ? "skipped" : run.not_judged ? "not judged"
    : run.failure ? "refused" : "passed");
  const wordOfScenario = (scenario) =>
    (!scenario.passed ? "FAILED" : scenario.results.length > 0
      && scenario.results.every((one) => !isThere(one.passed)) ? "not judged" : "passed");
  // Words of a table's cells that say a verdict take its colour.
  const colourVerdicts = (holder) => {
    const words = Object.keys(marks);
    const paint = () => holder.selectAll("td").each(function () {
      const word = words.find((one) => this.textContent === verdictText(one));
      if (word) d3.select(this).style("color", marks[word].colour).style("font-weight", word === "FAILED" ? 700 : null);
    });
    paint();
    // Sorting and filtering make new cells.
    const watcher = new MutationObserver(paint);
    watcher.observe(holder.node(), { childList: true, subtree: true });
  };
  const verdictTable = (root, columns, rows, caption) =>
    colourVerdicts(table(root, columns, rows, { caption, filter: rows.length > 20 }));

  const placeOf = (at) => (at || "").replace(/^.*\/(?=[^/]+$)/, "");
  const runName = (run) => [run.machine || "all machines", run.variant].filter(Boolean).join(", ");
  const detailOf = (run) => run.failure || run.skipped || run.not_judged || "";

  // ---------------------------------------------------------------------------------- overview
  const verdictFacts = (root, verdict) => {
    const { scenarios } = verdict;
    const results = d3.merge(scenarios.map((scenario) => scenario.results));
    const runs = d3.merge(scenarios.map((scenario) => scenario.runs || []));
    const of = (rows, isSo) => rows.filter(isSo).length;
    const made = section(root, verdict.passed ? "All passed" : "Not all passed");
    made.select("h2").style("color", verdict.passed ? "var(--good)" : "var(--bad)")
      .text(`${marks[verdict.passed ? "passed" : "FAILED"].mark} ${verdict.passed ? "All passed" : "Not all passed"}`);
    const pairs = [
      ["scenarios", `${grouped(of(scenarios, (one) => one.passed))} of ${grouped(scenarios.length)} passed`],
      ["expectations", `${grouped(of(results, (one) => one.passed))} of ${grouped(results.length)} held`],
      ["runs", `${grouped(of(runs, (one) => isThere(one.makespan_us)))} of ${grouped(runs.length)} ran`],
      ["mode", [...new Set(scenarios.map((one) => one.mode))].join(" and ")]];
    const open = of(results, (one) => !isThere(one.passed));
    if (open > 0) pairs.push(["not judged", grouped(open)]);
    facts(made.node(), pairs);
    if (verdict.stopped)
      made.append("p").text(`Stopped by the user after ${grouped(verdict.stopped.checked)} of `
        + `${grouped(verdict.stopped.of)} scenarios.`);
  };

  const failureSection = (root, verdict) => {
    const rows = [];
    for (const scenario of verdict.scenarios) {
      const add = (row) => rows.push({ scenario: scenario.scenario, mode: scenario.mode, ...row });
      for (const error of scenario.errors || [])
        add({ where: error.machine || "", wanted: "to be read", found: error.message,
          at: placeOf(error.file) + (error.line ? `:${error.line}` : "") });
      for (const result of scenario.results.filter((one) => one.passed === false))
        add({ where: runName(result), wanted: result.expected, found: result.found, at: placeOf(result.at) });
      const isNamed = (run) => scenario.results.some((one) => one.passed === false && one.machine === run.machine
        && one.variant === run.variant);
      for (const run of (scenario.runs || []).filter((one) => !one.passed && one.failure && !isNamed(one)))
        add({ where: runName(run), wanted: "to run", found: run.failure, at: placeOf(scenario.file) });
    }
    if (rows.length === 0) return;
    const made = section(root, `${marks.FAILED.mark} What failed (${grouped(rows.length)})`);
    const several = new Set(verdict.scenarios.map((one) => one.mode)).size > 1;
    table(made.node(), [{ name: "scenario", value: (row) => row.scenario },
      ...(several ? [{ name: "mode", value: (row) => row.mode }] : []),
      { name: "machine, variant", value: (row) => row.where },
      { name: "wanted", value: (row) => row.wanted, wrap: true },
      { name: "found", value: (row) => row.found, wrap: true }, { name: "at", value: (row) => row.at }], rows);
  };

  const baselineSection = (root, baseline) => {
    if (!baseline) return;
    const made = section(root, `Against the baseline: ${baseline.passed ? "no regression" : "REGRESSIONS"}`,
      `${baseline.file}; times that differ by less than ${percent(baseline.tolerance)} count as equal.`);
    facts(made.node(), [["compared", grouped(baseline.compared)], ["unchanged", grouped(baseline.unchanged)],
      ["changed", grouped(baseline.changes.length)],
        ["regressions", grouped(baseline.changes.filter((one) => one.regression).length)]]);
    if (baseline.changes.length > 0)
      table(made.node(), [{ name: "change", value: (one) => one.change },
        { name: "regression", value: (one) => (one.regression ? "YES" : "no") },
        { name: "scenario", value: (one) => one.scenario }, { name: "machine, variant", value: runName },
        { name: "mode", value: (one) => one.mode },
        { name: "now / before", value: (one) => one.ratio,
          text: (one) => (isThere(one.ratio) ? one.ratio.toFixed(3) : "") },
        { name: "detail", value: (one) => one.detail, wrap: true }], baseline.changes);
  };

  // Of what ran simulated and on hardware.
  const bothSection = (root, both) => {
    if (!both) return;
    const made = section(root, "Simulated and measured",
      "A decision agrees when hardware prefers no other way than simulation does, beyond the noise.");
    const pairs = [["decisions that agree",
      `${grouped(both.equal_decisions + both.within_noise)} of ${grouped(both.decisions)}`],
      ["of them within noise", grouped(both.within_noise)], ["worst regret", percent(both.worst_regret)]];
    if (isThere(both.median_error)) pairs.push(["median error", percent(both.median_error)],
      ["95 % of errors below", percent(both.p95_error)]);
    facts(made.node(), pairs);
    const details = made.append("div");
    table(made.node(), [{ name: "scenario", value: (one) => one.scenario },
      { name: "machine, variant", value: runName },
      { name: "decisions", value: (one) => one.decisions },
      { name: "agree", value: (one) => one.equal_decisions + one.within_noise },
      { name: "median error", value: (one) => one.comparison.median_error,
        text: (one) => percent(one.comparison.median_error) },
      { name: "worst regret", value: (one) => one.worst_regret, text: (one) => percent(one.worst_regret) },
      { name: "which differ", value: (one) => one.not_judged || one.different.join("; "), wrap: true }], both.runs,
    { caption: "Enter or a click shows a run step by step", onRow: (one) => {
      details.selectAll("*").remove();
      details.append("h3").text(`${one.scenario} on ${runName(one)}`);
      lanewise.drawComparison(details.node(), one.comparison);
      details.node().scrollIntoView();
    } });
  };

  // ---------------------------------------------------------------------------------- makespans and bounds
  const gapSection = (root, verdict) => {
    const runs = d3.merge(verdict.scenarios.map((scenario) => (scenario.runs || [])
      .filter((run) => isThere(run.gap)).map((run) => ({ scenario, run }))));
    if (runs.length === 0) return;
    const made = section(root, "Furthest from the lower bound",
      "Makespans over their lower bounds. A gap can be the plan's or the bound's: no plan may reach the bound.");
    const worst = runs.slice().sort((a, b) => b.run.gap - a.run.gap).slice(0, 15);
    const several = new Set(runs.map((one) => one.scenario.scenario)).size > 1;
    lanewise.bars(made.node(), { label: "gap between makespan and lower bound", tick: (value) => percent(value, 0),
      width: 420,
      high: Math.max(0.01, worst[0].run.gap), rows: worst.map(({ scenario, run }) => ({
        name: several ? `${scenario.scenario}: ${runName(run)}` : runName(run),
        bars: [{ value: run.gap, text: percent(run.gap), colour: category(0) }],
        note: `${time(run.makespan_us)}, bound ${time(run.bound_us)}` })) });
  };

  // ---------------------------------------------------------------------------------- a scenario
  const runTable = (root, scenario) => {
    const runs = scenario.runs || [];
    if (runs.length === 0) return;
    const has = (isSo) => runs.some(isSo);
    const decision = (run) => (run.decisions || [])
      .map((one) => `${one.transfer}: ${one.mechanism}, ${rate(one.bandwidth_GBps)}`);
    const listed = (run) => {
      const all = decision(run);
      return all.length > 4 ? `${all.slice(0, 4).join("; ")}; and ${all.length - 4} more` : all.join("; ");
    };
    const regret = (run) => d3.max(run.decisions || [], (one) => one.regret);
    verdictTable(root, [{ name: "machine", value: (run) => run.machine },
      ...(has((run) => run.variant) ? [{ name: "variant", value: (run) => run.variant }] : []),
      { name: "verdict", value: wordOfRun, text: (run) => verdictText(wordOfRun(run)) },
      { name: "makespan", value: (run) => run.makespan_us, text: (run) => time(run.makespan_us) },
      { name: "lower bound", value: (run) => run.bound_us, text: (run) => time(run.bound_us) },
      { name: "gap", value: (run) => run.gap, text: (run) => (isThere(run.gap) ? percent(run.gap) : "") },
      ...(has((run) => isThere(run.bus_bandwidth_GBps))
        ? [{ name: "bus bandwidth", value: (run) => run.bus_bandwidth_GBps,
        text: (run) => rate(run.bus_bandwidth_GBps) },
          { name: "size", value: (run) => run.bytes, text: (run) => (run.bytes ? bytes(run.bytes) : "") },
          { name: "algorithm", value: (run) => run.algorithm }] : []),
      ...(has((run) => isThere(regret(run))) ? [{ name: "regret", value: regret,
      text: (run) => (isThere(regret(run)) ? percent(regret(run)) : "") },
        { name: "decisions", value: listed, wrap: true }] : []),
      ...(has(detailOf) ? [{ name: "why not", value: detailOf, wrap: true }] : []),
    ], runs, "Runs");
  };

  const resultTable = (root, scenario) => {
    if (scenario.results.length === 0) {
      if (!scenario.errors) d3.select(root).append("p").text("Nothing is expected of it.");
      return;
    }
    const failed = (result) => (result.passed === false ? 0 : isThere(result.passed) ? 2 : 1);
    const results = scenario.results.slice().sort((a, b) => failed(a) - failed(b));
    const has = (key) => results.some((one) => isThere(one[key]));
    verdictTable(root, [{ name: "verdict", value: (one) => wordOf(one.passed),
      text: (one) => verdictText(wordOf(one.passed)) },
      { name: "machine", value: (one) => one.machine || "all" }, { name: "variant", value: (one) => one.variant },
      { name: "wanted", value: (one) => one.expected, wrap: true },
      { name: "found", value: (one) => one.found, wrap: true },
      ...(has("rules") ? [{ name: "rules", value: (one) => (one.rules || []).join(", "), wrap: true }] : []),
      ...(has("not_judged") ? [{ name: "why not judged", value: (one) => one.not_judged, wrap: true }] : []),
      { name: "at", value: (one) => placeOf(one.at) }], results, "Expectations");
  };

  // Its tables are made when it is first opened: hundreds of scenarios have thousands of rows.
  const drawScenario = function (scenario) {
    const holder = d3.select(this);
    if (!holder.select("table").empty()) return;
    if (scenario.title) holder.append("p").text(scenario.title);
    for (const error of scenario.errors || [])
      holder.append("p").style("color", "var(--bad)")
        .text(`${error.machine ? `${error.machine}: ` : ""}${error.message}`);
    resultTable(holder.node(), scenario);
    runTable(holder.node(), scenario);
  };

  const scenarioList = (root, scenarios, isOpen) => {
    const several = new Set(scenarios.map((one) => one.mode)).size > 1;
    const items = d3.select(root).selectAll("details").data(scenarios).enter().append("details")
      .style("margin", ".25rem 0");
    const summary = items.append("summary");
    summary.append("b").style("color", (one) => marks[wordOfScenario(one)].colour)
      .text((one) => `${verdictText(wordOfScenario(one))} `);
    summary.append("span").text((one) => one.scenario + (several ? ` (${one.mode})` : ""));
    summary.append("span").attr("class", "note").text((one) => {
      const held = one.results.filter((result) => result.passed).length;
      return `  ${held} of ${one.results.length} expectations, ${(one.runs || []).length} runs`;
    });
    items.on("toggle", function (scenario) { if (this.open) drawScenario.call(this, scenario); });
    items.property("open", isOpen);
  };

  const scenarioSection = (root, verdict) => {
    const made = section(root, "Scenarios");
    const controls = made.append("p").attr("class", "no-print");
    const space = made.append("div");
    let wanted = "";
    let kind = "all";
    const order = (scenario) => ["FAILED", "not judged", "passed"].indexOf(wordOfScenario(scenario));
    const sorted = verdict.scenarios.slice().sort((a, b) => order(a) - order(b));
    const fill = () => {
      const shown = sorted.filter((one) => (kind === "all" || wordOfScenario(one) === kind)
        && `${one.scenario} ${one.title} ${(one.runs || []).map((run) => run.machine).join(" ")}`.toLowerCase()
        .includes(wanted));
      space.selectAll("*").remove();
      scenarioList(space.node(), shown, (one) => shown.length <= 3
        || (!one.passed && order(one) === 0 && shown.length < 30));
      if (shown.length === 0) space.append("p").text("None.");
    };
    const present = [...new Set(sorted.map(wordOfScenario))];
    if (present.length > 1)
      lanewise.choice(controls.node(), "show", ["all", ...present].map((value) => ({ value, text: value })), "all",
        (value) => { kind = value; fill(); });
    controls.append("label").text("name, title or machine holds ").append("input").attr("type", "search")
      .on("input", function () {
      wanted = this.value.toLowerCase();
      fill();
    });
    fill();
  };

  lanewise.view("verdict/1", (root, verdict) => {
    verdictFacts(root, verdict);
    failureSection(root, verdict);
    baselineSection(root, verdict.baseline);
    scenarioSection(root, verdict);
    bothSection(root, verdict.both_modes);
    gapSection(root, verdict);
  });
}
