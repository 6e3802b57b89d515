// What is said of a step of a run: its ends, its time, its words in a tip.
{
  const { time, rate, bytes, grouped, isThere } = lanewise;
  const kMostRows = 300;  // of a table at once: laying it out takes longer than all else

  const duration = (step) => step.end_us - step.start_us;
  const mechanismOf = (step) => step.mechanism || (step.to ? "not stated" : "computing or launch");
  const endsOf = (step) => (step.to ? `${step.from} > ${step.to}` : step.from || "");
  // A copy within one place is far faster than all others and passes no link: totals leave it out.
  const rateBetween = (step) => (step.from && step.from === step.to ? 0 : step.bandwidth_GBps || 0);
  const textOf = (step) => `${step.transfer} ${endsOf(step)} ${mechanismOf(step)} ${step.phase || ""}`.toLowerCase();

  const describe = (step, count) => {
    const lines = [`${step.transfer}${endsOf(step) ? `: ${endsOf(step)}` : ""}`,
      `step ${grouped(step.order + 1)} of ${grouped(count)} by start`,
      [mechanismOf(step), step.phase].filter(Boolean).join(", "),
      `${time(step.start_us)} to ${time(step.end_us)}: ${time(duration(step))}`];
    if (step.duration_interval_us) lines.push(`90 % range: ${step.duration_interval_us.map(time).join(" to ")}`);
    if (step.noise_us) lines.push(`noise of the median: ${step.noise_us.map(time).join(" to ")}`);
    if (step.bytes) lines.push(`${bytes(step.bytes)} at ${rate(step.bandwidth_GBps)}`);
    if (isThere(step.offset)) lines.push(`of the result, from byte ${grouped(step.offset)}`);
    if (isThere(step.verified)) lines.push(step.verified ? "arrived as sent" : `ARRIVED WRONG: ${step.mismatch || ""}`);
    return lines.join("\n");
  };

  lanewise.steps = { kMostRows, duration, mechanismOf, endsOf, rateBetween, textOf, describe };
}
