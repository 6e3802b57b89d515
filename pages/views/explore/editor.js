// A text with numbers beside its lines, and the errors in it: the machine's file on the page of `lanewise explore`.
(() => {
  const { isThere } = lanewise;
  const kPause = 300;  // ms without a key until a text is evaluated

  // A text with numbers beside its lines, and the errors in it. `onText` hears of it when no key was pressed for a
  // moment; `onKey` hears of each.
  const makeEditor = (root, onText, onKey) => {
    const holder = d3.select(root).append("div").attr("class", "editor no-print");
    const gutter = holder.append("div").attr("class", "gutter").attr("aria-hidden", "true");
    const area = holder.append("textarea").attr("id", "file-text").attr("spellcheck", "false").attr("wrap", "off")
      .attr("autocomplete", "off").attr("aria-label", "the machine's file").attr("aria-describedby", "file-errors");
    const list = d3.select(root).append("ul").attr("id", "file-errors").attr("class", "errors").attr("role", "status");
    let errors = [];
    let fileName = "";
    const text = () => area.property("value");
    const isHere = (error) => isThere(error.line) && (!error.file || error.file === fileName);
    const drawGutter = () => {
      const marked = new Set(errors.filter(isHere).map((error) => error.line));
      const lines = gutter.selectAll("span").data(d3.range(1, text().split("\n").length + 1));
      lines.exit().remove();
      lines.enter().append("span").text((line) => line).merge(lines).classed("wrong", (line) => marked.has(line));
      gutter.node().scrollTop = area.node().scrollTop;
    };
    const goTo = (error) => {
      const lines = text().split("\n");
      const start = d3.sum(lines.slice(0, error.line - 1), (line) => line.length + 1);
      const at = Math.min(text().length, start + Math.max(0, (error.column || 1) - 1));
      area.node().focus();
      area.node().setSelectionRange(at, at);
      area.node().scrollTop = Math.max(0, (error.line - 6) * (area.node().scrollHeight / lines.length));
    };
    let pause = 0;
    const flush = () => {
      clearTimeout(pause);
      onText(text());
    };
    area.on("input", () => {
      drawGutter();
      onKey();
      clearTimeout(pause);
      pause = setTimeout(flush, kPause);
    }).on("scroll", () => { gutter.node().scrollTop = area.node().scrollTop; });
    const put = (words) => {
      clearTimeout(pause);
      area.property("value", words).property("scrollTop", 0);
      drawGutter();
    };
    const showErrors = (found, file) => {
      errors = found;
      fileName = file;
      area.attr("aria-invalid", errors.length ? "true" : null);
      list.selectAll("li").remove();
      const made = list.selectAll("li").data(errors).enter().append("li");
      const words = (error) => {
        const place = isThere(error.line) ? `${error.line}:${error.column} ` : "";
        return `${place && !isHere(error) ? `${error.file}:` : ""}${place}${error.message}`;
      };
      made.filter(isHere).append("button").attr("type", "button").text(words).on("click", goTo);
      made.filter((error) => !isHere(error)).text(words);
      drawGutter();
    };
    return { text, put, flush, showErrors };
  };

  Object.assign(lanewise.explore, { makeEditor });
})();
