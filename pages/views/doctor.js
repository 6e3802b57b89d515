// Draws health/1 (lanewise doctor): what is wrong with the nodes of a cluster, worst first.
{
  const { section, facts, table, grouped, plural } = lanewise;

  const order = { fail: 0, warn: 1 };
  const colours = { fail: "var(--bad)", warn: "var(--warn)" };
  const origins = {
    node: "the node disagrees with itself",
    others: "it differs from most nodes that the file describes alike",
    description: "it differs from the cluster's file",
    measurement: "it was measured so",
  };
  const nameOf = (node) => (node.host ? `${node.node} (${node.host})` : node.node);

  // A row for each node: how many findings, as boxes that the eye can count.
  const drawNodes = (root, nodes) => {
    const rows = d3.select(root).append("div").selectAll("p").data(nodes).enter().append("p")
      .style("margin", "0.2rem 0");
    rows.append("span").style("display", "inline-block").style("min-width", "14rem").text(nameOf);
    rows.selectAll("span.mark").data((node) => node.findings).enter().append("span").attr("class", "mark")
      .style("display", "inline-block").style("width", "0.9rem").style("height", "0.9rem")
      .style("margin-right", "2px").style("background", (finding) => colours[finding.grade])
      .attr("title", (finding) => `${finding.grade}: ${finding.subject}: ${finding.text}`);
    const shared = nodes.some((node) => !node.host && node.findings.length > 0);
    rows.filter((node) => node.findings.length === 0).append("span").style("color", "var(--good)")
      .text(shared ? "\u2713 nothing of its own" : "\u2713 well");
  };

  lanewise.view("health/1", (root, result) => {
    const rows = result.nodes.flatMap((node) => node.findings.map((finding) => ({ node: nameOf(node), ...finding })));
    const count = (grade) => rows.filter((row) => row.grade === grade).length;
    facts(root, [["cluster", result.cluster], ["failures", grouped(count("fail"))],
      ["warnings", grouped(count("warn"))],
      ["times", result.not_measured || `${plural(result.figures, "figure", "figures")} measured between nodes`]]);
    drawNodes(section(root, "Nodes").node(), result.nodes);
    if (rows.length > 0) table(section(root, "Findings").node(), [
      { name: "node", value: (row) => row.node },
      { name: "grade", value: (row) => order[row.grade], text: (row) => row.grade },
      { name: "what", value: (row) => row.subject }, { name: "finding", value: (row) => row.text },
      { name: "why it is one", value: (row) => origins[row.of] || row.of },
      { name: "how to check", value: (row) => row.check || "" },
    ], rows);
    const unread = result.nodes.flatMap((node) => node.unread.map((what) => ({ node: nameOf(node), what })));
    if (unread.length > 0) table(section(root, "Not read").node(), [
      { name: "node", value: (row) => row.node }, { name: "what", value: (row) => row.what }], unread);
  });
}
