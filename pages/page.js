// What every view of a page shares. A view draws one kind of result, by the schema that its JSON names:
//   lanewise.view("matrix/1", (root, result, machine) => ...)
"use strict";
const lanewise = (() => {
  const views = new Map();
  const view = (schema, draw) => views.set(schema, draw);

  // ---------------------------------------------------------------------------------- figures with their units
  const rounded = (value) => {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 100) return value.toFixed(size >= 1000 ? 0 : 1);
    return value.toPrecision(3);
  };
  const scaled = (value, steps) => {
    const size = Math.abs(value);
    for (const [least, unit] of steps) if (size >= least * 0.9995) return `${rounded(value / least)} ${unit}`;
    const [least, unit] = steps[steps.length - 1];
    return `${rounded(value / least)} ${unit}`;
  };
  const isThere = (value) => value !== undefined && value !== null;
  const time = (us) => (isThere(us) ? scaled(us, [[1e6, "s"], [1e3, "ms"], [1, "us"], [1e-3, "ns"]]) : "");
  // The unit of an axis that ends there: [microseconds, name].
  const timeUnit = (most) => [[1e6, "s"], [1e3, "ms"], [1, "us"]].find(([least]) => most >= least) || [1e-3, "ns"];
  const rate = (gigabytes) => (isThere(gigabytes) ? `${rounded(gigabytes)} GB/s` : "");
  const bytes = (count) => {
    for (const [least, unit] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]])
      if (count >= least) return `${rounded(count / least).replace(/\.0+$/, "")} ${unit}`;
    return `${count} B`;
  };
  const grouped = d3.format(",");
  const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
  // A measured point has its figures in the unit of its quantity. figure(point, "predicted"), figure(point, "interval")
  const isRate = (point) => point.quantity === "bandwidth";
  const figure = (point, name) => point[`${name}_${isRate(point) ? "GBps" : "us"}`];
  const figureText = (point, value) => (isRate(point) ? rate(value) : time(value));

  // ---------------------------------------------------------------------------------- words
  const plural = (count, one, many) => `${grouped(count)} ${count === 1 ? one : many}`;
  const spaced = (word) => word.replace(/_/g, " ");
  const byName = (a, b) => a.localeCompare(b, "en", { numeric: true });
  const modeWords = { sim: "simulated", estimate: "estimated", hw: "measured" };

  // ---------------------------------------------------------------------------------- colours
  // Okabe and Ito's palette for categories, cividis for amounts: both are told apart by colour-blind eyes.
  const categories = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#b8a900"];
  const category = (i) => categories[i % categories.length];
  const amount = (share) => d3.interpolateCividis(Math.max(0, Math.min(1, share)));
  // Black or white, whichever reads better on a colour.
  const inkOn = (colour) => {
    const c = d3.rgb(colour);
    return 0.299 * c.r + 0.587 * c.g + 0.114 * c.b > 140 ? "#000" : "#fff";
  };

  // ---------------------------------------------------------------------------------- pieces of a page
  const section = (root, title, note) => {
    const made = d3.select(root).append("section");
    made.append("h2").text(title);
    if (note) made.append("p").attr("class", "note").text(note);
    return made;
  };
  // [["makespan", "2.61 ms"], ...]
  const facts = (root, pairs) => {
    const list = d3.select(root).append("div").attr("class", "facts");
    for (const [name, value] of pairs) {
      const one = list.append("div");
      one.append("span").text(name);
      one.append("b").text(value);
    }
    return list;
  };
  // [{colour, text}, ...]
  const legend = (root, entries) => {
    const list = d3.select(root).append("div").attr("class", "legend");
    for (const entry of entries) {
      const one = list.append("span");
      one.append("span").attr("class", "swatch").style("background", entry.colour);
      one.append("span").text(entry.text);
    }
    return list;
  };
  // A bar of the colours of amounts, with texts at its ends.
  const amountLegend = (root, low, high) => {
    const list = d3.select(root).append("div").attr("class", "legend");
    list.append("span").text(low);
    const stops = d3.range(0, 1.01, 0.1).map((share) => amount(share)).join(", ");
    list.append("span").style("display", "inline-block").style("width", "10rem").style("height", ".9rem")
      .style("background", `linear-gradient(to right, ${stops})`);
    list.append("span").text(high);
    return list;
  };
  // Shows a text beside an element, or beside a rectangle of the window: {left, right, top}. It stands right of it,
  // or left of it where there is no room.
  const tipAt = (box, text) => {
    const tip = document.getElementById("tip");
    tip.textContent = text;
    tip.hidden = false;
    const at = box.getBoundingClientRect ? box.getBoundingClientRect() : box;
    const [width, height] = [tip.offsetWidth, tip.offsetHeight];
    const isRight = at.right + 8 + width <= innerWidth - 8 || at.left - 8 - width < 4;
    const left = isRight ? at.right + 8 : at.left - 8 - width;
    tip.style.left = `${Math.max(4, Math.min(left, innerWidth - width - 8))}px`;
    tip.style.top = `${Math.max(4, Math.min(at.top, innerHeight - height - 8))}px`;
  };
  const hideTip = () => { document.getElementById("tip").hidden = true; };
  // A tip for whatever the pointer or the keyboard is on. `text`: of the element's datum.
  const withTip = (selection, text) => {
    const show = function (datum) {
      const now = text(datum);
      this.setAttribute("aria-label", now);  // the datum may have changed since it was drawn
      tipAt(this, now);
    };
    return selection.attr("tabindex", 0).attr("aria-label", text)
      .on("mouseover", show).on("focus", show).on("mouseout", hideTip).on("blur", hideTip);
  };
  // A table that sorts by its headings and shows the rows that hold a text.
  // columns: {name, value: (row) => number or text, text: (row) => text, wrap}
  // options: {filter (false: none), caption, onRow: (row) => ..., most}
  // most: how many rows to show at once; all rows are sorted and searched.
  const table = (root, columns, rows, options = {}) => {
    const holder = d3.select(root).append("div");
    let wanted = "";
    let sortedBy = null;
    let isRising = true;
    if (options.filter !== false && rows.length > 4) {
      const label = holder.append("label").attr("class", "no-print").text("rows that hold ");
      label.append("input").attr("type", "search").on("input", function () {
        wanted = this.value.toLowerCase();
        fill();
      });
    }
    const cutNote = holder.append("p").attr("class", "note").attr("role", "status").property("hidden", true);
    const made = holder.append("div").attr("class", "scroll").append("table");
    if (options.caption) made.append("caption").text(options.caption);
    // Once for a column, not for every cell: a column of texts is looked through to its end.
    const numbers = new Set(columns.filter((column) => rows.some((row) => typeof column.value(row) === "number")));
    const isNumber = (column) => numbers.has(column);
    const headings = made.append("thead").append("tr").selectAll("th").data(columns).enter().append("th")
      .attr("class", (column) => (isNumber(column) ? "number" : null)).attr("scope", "col");
    headings.append("button").attr("type", "button").text((column) => column.name).on("click", (column) => {
      isRising = sortedBy === column ? !isRising : true;
      sortedBy = column;
      fill();
    });
    const body = made.append("tbody");
    const text = (column, row) => {
      if (column.text) return column.text(row);
      const value = column.value(row);
      return isThere(value) ? String(value) : "";
    };
    const fill = () => {
      let shown = wanted
        ? rows.filter((row) => columns.some((column) => text(column, row).toLowerCase().includes(wanted))) : rows;
      if (sortedBy) {
        const value = (row) => {
          const found = sortedBy.value(row);
          return isThere(found) ? found : isRising ? Infinity : -Infinity;
        };
        shown = shown.slice().sort((a, b) => (isRising ? d3.ascending : d3.descending)(value(a), value(b)));
      }
      const count = shown.length;
      if (options.most < count) shown = shown.slice(0, options.most);
      cutNote.property("hidden", shown.length === count)
        .text(`The first ${grouped(shown.length)} of ${grouped(count)} rows. A heading sorts all of them.`);
      headings.attr("aria-sort", (column) => (column !== sortedBy ? null : isRising ? "ascending" : "descending"));
      body.selectAll("tr").remove();
      const made = body.selectAll("tr").data(shown).enter().append("tr");
      made.selectAll("td").data((row) => columns.map((column) => ({ column, row }))).enter().append("td")
        .attr("class", (cell) => (isNumber(cell.column) ? "number" : cell.column.wrap ? "wrap" : null))
        .text((cell) => text(cell.column, cell.row));
      if (options.onRow) made.attr("tabindex", 0).on("click", options.onRow).on("keydown", (row) => {
        if (d3.event.key === "Enter") options.onRow(row);
      });
    };
    fill();
    return holder;
  };
  const svg = (root, width, height, label) =>
    d3.select(root).append("div").attr("class", "scroll").append("svg").attr("viewBox", `0 0 ${width} ${height}`)
      .attr("width", width).attr("height", height).attr("role", "group").attr("aria-label", label);

  // ---------------------------------------------------------------------------------- the page
  const parsed = (id) => {
    const text = document.getElementById(id).textContent.trim();
    return text ? JSON.parse(text) : null;
  };
  // Paper cannot be unfolded. Some views fill a part when it is opened: they hear of it at once, for the browser's own
  // event comes after the page is printed.
  const showDetailsInPrint = () => {
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details:not([open])")];
      for (const one of opened) {
        one.open = true;
        one.dispatchEvent(new Event("toggle"));
      }
    });
    addEventListener("afterprint", () => {
      for (const one of opened) one.open = false;
      opened = [];
    });
  };
  const drawResult = (root, result, machine) => {
    const schema = result.lanewise || "";
    const draw = views.get(schema) || views.get(schema.replace(/\/.*/, ""));
    if (draw) draw(root, result, machine);
    else section(root, "Result").append("pre").text(JSON.stringify(result, null, 2));
  };
  const begin = () => {
    const root = document.getElementById("main");
    const result = parsed("result");
    document.getElementById("theme").addEventListener("click", () => {
      const now = document.documentElement.dataset.theme
        || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
      document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
    });
    const schema = result.lanewise || "";
    showDetailsInPrint();
    drawResult(root, result, parsed("machine"));
    document.documentElement.dataset.drawn = schema;
  };
  return { view, drawResult, begin, rounded, isThere, time, timeUnit, rate, bytes, grouped, percent, isRate, figure,
    figureText, plural, spaced, byName, modeWords, category, amount, inkOn, section, facts, legend, amountLegend, tipAt,
    hideTip, withTip, table, svg };
})();
