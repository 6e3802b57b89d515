// Draws comparison/1 (lanewise compare): two runs of one plan, step by step.
// Lends lanewise.drawComparison to the view of a verdict.
{
  const { section, facts, legend, table, time, percent, category, choice, bars, modeWords, grouped,
    isThere } = lanewise;

  const orders = {
    share: { text: "largest difference in percent", of: (step) => -Math.abs(step.error) },
    time: { text: "largest difference in time", of: (step) => -Math.abs(step.first_us - step.second_us) },
    order: { text: "order in the plan", of: (step) => step.order },
  };
  const signed = (share) => (Math.abs(share) < 0.0005 ? "0.0 %" : `${share > 0 ? "+" : ""}${percent(share)}`);
  const noiseWords = (within) => (!isThere(within) ? "" : within ? "within its noise" : "beyond its noise");

  const comparisonBars = (root, comparison, names) => {
    const controls = d3.select(root).append("p");
    legend(root, names.map((text, i) => ({ colour: category(i), text })));
    const space = d3.select(root).append("div");
    const draw = (order) => {
      space.selectAll("*").remove();
      const steps = comparison.steps.slice()
        .sort((a, b) => orders[order].of(a) - orders[order].of(b) || a.order - b.order)
        .slice(0, 40);
      const note = (step) => [signed(step.error), noiseWords(step.within_noise),
        step.verified === false ? "ARRIVED WRONG" : ""]
        .filter(Boolean).join(", ");
      bars(space.node(), { label: "duration of each step in both", tick: time, width: 560, rows: steps.map((step) => ({
        name: `${step.order + 1} ${step.transfer}`, note: note(step),
        bars: [step.first_us, step.second_us]
          .map((value, i) => ({ value, text: time(value), colour: category(i) })) })) });
      if (comparison.steps.length > 40)
        space.append("p").attr("class", "note")
          .text(`The first 40 of ${grouped(comparison.steps.length)} steps; the table has more.`);
    };
    choice(controls.node(), "order", Object.keys(orders).map((value) => ({ value, text: orders[value].text })),
      "share", draw);
    draw("share");
  };

  lanewise.drawComparison = (root, comparison) => {
    const isTwice = comparison.modes[0] === comparison.modes[1];
    const names = comparison.modes.map((mode, i) => `${modeWords[mode] || mode}${isTwice ? ` (${i + 1})` : ""}`);
    comparison.steps.forEach((step, i) => { step.order = i; });
    for (const warning of comparison.warnings || []) d3.select(root).append("p").style("color", "var(--bad)")
      .text(`Warning: ${warning}`);
    const [first, second] = comparison.makespan_us;
    const pairs = [[`makespan, ${names[0]}`, time(first)], [`makespan, ${names[1]}`, time(second)],
      ["difference", signed(first / second - 1)], ["median error of a step", percent(comparison.median_error)],
      ["steps", grouped(comparison.steps.length)]];
    if (isThere(comparison.makespan_within_noise)) pairs.push(["the difference is",
      noiseWords(comparison.makespan_within_noise)]);
    facts(root, pairs);
    comparisonBars(root, comparison, names);
    const has = (key) => comparison.steps.some((step) => isThere(step[key]));
    table(root, [
      { name: "step", value: (step) => step.order + 1 }, { name: "transfer", value: (step) => step.transfer },
      { name: names[0], value: (step) => step.first_us, text: (step) => time(step.first_us) },
      { name: names[1], value: (step) => step.second_us, text: (step) => time(step.second_us) },
      { name: "difference", value: (step) => step.first_us - step.second_us,
        text: (step) => (step.first_us < step.second_us ? "-" : "") + time(Math.abs(step.first_us - step.second_us)) },
      { name: "error", value: (step) => step.error, text: (step) => signed(step.error) },
      ...(has("spread") ? [{ name: "noise", value: (step) => step.spread,
      text: (step) => (isThere(step.spread) ? percent(step.spread) : "") },
        { name: "error is", value: (step) => noiseWords(step.within_noise) }] : []),
      ...(has("verified") ? [{ name: "verified",
      value: (step) => (step.verified ? "yes" : isThere(step.verified) ? "NO" : "") }] : []),
    ], comparison.steps, { most: 2000 });
  };

  lanewise.view("comparison/1", (root, comparison) => {
    const made = section(root, `Two runs of one plan on ${comparison.machine}`,
      "The error is that of the first against the second: (first - second) / second.");
    lanewise.drawComparison(made.node(), comparison);
  });
}
