// What is tried, as the controls of the page of `lanewise explore` show and change it.
// Lends the pieces that its other controls are made of.
(() => {
  const { parsedSetting, settingText } = lanewise.explore;

  // ---------------------------------------------------------------------------------- pieces
  const control = (root, label, tag, id) => {
    const holder = d3.select(root).append("label").attr("class", "control no-print");
    holder.append("span").text(label);
    return holder.append(tag).attr("id", id);
  };
  const button = (root, id, text, onClick) => d3.select(root).append("button").attr("type", "button").attr("id", id)
    .attr("class", "no-print").text(text).on("click", onClick);
  const fillOptions = (list, options) => {
    list.selectAll("option").remove();
    list.selectAll("option").data(options).enter().append("option").attr("value", (one) => one.value)
      .text((one) => one.text);
    return list;
  };
  // Shows a value in a list, also one that the list does not offer.
  const show = (list, value, text) => {
    const isOffered = [...list.node().options].some((option) => option.value === value);
    if (!isOffered) list.append("option").attr("value", value).text(text || value);
    list.property("value", value);
  };
  const kAsFile = "as the file has it";

  // ---------------------------------------------------------------------------------- machines and failures
  const groupsOf = (start) => {
    const names = new Set(start.opened.map((one) => one.name));
    const others = (list) => list.filter((name) => !names.has(name));
    return [["opened", [...names]], ["files of this folder", others(start.files)],
      ["machines", others(start.machines)], ["clusters", others(start.clusters)]].filter(([, list]) => list.length);
  };
  const fillMachines = (studio, list) => {
    list.selectAll("*").remove();
    list.append("option").attr("value", "").text("choose a machine");
    list.selectAll("optgroup").data(groupsOf(studio.start)).enter().append("optgroup")
      .attr("label", ([label]) => label)
      .selectAll("option").data(([, names]) => names).enter().append("option").attr("value", (name) => name)
      .text((name) => name);
    list.property("value", studio.state.name);
  };
  const openUnlessUnsaved = (studio, at, name) => {
    at.loss.text("");
    if (!studio.file.isUnsaved()) return studio.open(name);
    at.machine.property("value", studio.state.name);
    at.loss.append("span").text("The text below is not saved. ");
    button(at.loss.node(), "lose-text", `open ${name} and lose it`, () => { at.loss.text(""); studio.open(name); });
  };
  const fillFaults = (studio, list, faults) => {
    fillOptions(list, [{ value: "", text: "choose a part" }, ...faults.map((fault, i) =>
      ({ value: String(i), text: fault.what }))]);
    list.on("change", function () {
      const fault = faults[Number(this.value)];
      if (!this.value || !fault) return;
      for (const one of fault.settings) studio.set(...parsedSetting(one));
      studio.touch();
      this.value = "";
    });
  };

  // ---------------------------------------------------------------------------------- changes in force
  const showSettingErrors = (studio, at) => {
    const errors = new Map((studio.now.settingErrors || []).map((error) => [error.setting, error.message]));
    at.chips.selectAll("li").select(".problem").text((one) => {
      const text = settingText(one);
      const message = errors.get(text) || "";
      const said = `--set ${text}: `;  // the chip says this part already
      return message.startsWith(said) ? message.slice(said.length) : message;
    });
  };
  const drawChips = (studio, at) => {
    const hadFocus = at.chips.node().contains(document.activeElement);
    at.chips.selectAll("li").remove();
    const made = at.chips.selectAll("li").data([...studio.state.settings]).enter().append("li");
    made.append("span").text(settingText);
    made.append("button").attr("type", "button").attr("class", "no-print").text("\u00d7")
      .attr("aria-label", (one) => `take ${settingText(one)} back`).on("click", ([key]) => studio.change(key, ""));
    made.append("span").attr("class", "problem");
    showSettingErrors(studio, at);
    if (!hadFocus) return;
    const next = at.chips.select("button");
    (next.empty() ? at.setting : next).node().focus();
  };

  // ---------------------------------------------------------------------------------- the section
  const addSettingChoice = (row, studio, key, label, values) => {
    const list = fillOptions(control(row, label, "select", key),
      [{ value: "", text: kAsFile }, ...values.map((value) => ({ value, text: value }))]);
    list.on("change", function () { studio.change(key, this.value); });
    return { key, list };
  };
  const addChoices = (row, studio) => {
    const { state } = studio;
    return {
      machine: control(row, "machine", "select", "machine-choice"),
      size: control(row, "message size", "input", "size").attr("size", 8).property("value", state.bytes)
        .on("change", function () { state.bytes = this.value.trim(); studio.touch(); }),
      library: fillOptions(control(row, "library", "select", "library"),
        ["best", "nccl", "rccl", "mpi", "oneshot"].map((name) => ({ value: name, text: name })))
        .on("change", function () { state.library = this.value; studio.touch(); }),
      settings: [addSettingChoice(row, studio, "acs", "ACS", ["on", "off"]),
        addSettingChoice(row, studio, "iommu", "IOMMU", ["off", "pt", "lazy", "strict", "vfio", "translated"])],
      fail: control(row, "let fail", "select", "fail"),
      setting: control(row, "any setting", "input", "setting").attr("size", 18)
        .attr("placeholder", "link@gpu3=gen3 x8").attr("title", "Enter adds it")
        .on("keydown", function () {
          if (d3.event.key !== "Enter" || !this.value.trim()) return;
          const [key, value] = parsedSetting(this.value);
          this.value = "";
          studio.change(key, value);
        }),
    };
  };
  const addWords = (section, studio) => {
    const loss = section.append("p").attr("id", "loss");
    const chips = section.append("ul").attr("class", "chips").attr("aria-label", "changes in force");
    const tools = section.append("p").attr("class", "tools");
    button(tools.node(), "undo-changes", "undo all changes", () => studio.undo());
    button(tools.node(), "compare-now", "compare with this from now on", () => studio.compareWithNow());
    return { loss, chips, before: tools.append("span").attr("id", "before"),
      answer: section.append("p").attr("class", "note").attr("id", "answer").attr("role", "status"),
      problem: section.append("p").attr("class", "problem").attr("id", "problem").attr("role", "alert") };
  };
  const showControls = (studio, at) => {
    const { state, before } = studio;
    show(at.machine, state.name);
    show(at.library, state.library);
    if (document.activeElement !== at.size.node()) at.size.property("value", state.bytes);
    for (const { key, list } of at.settings) show(list, state.settings.get(key) || "");
    at.before.text(before ? `Before: ${before.words}.` : "");
    drawChips(studio, at);
  };
  // Beside "as the file has it": what that is.
  const showWhatFileHas = (studio, at) => {
    const { settings } = studio.now.value("machine") || {};
    for (const { key, list } of at.settings) {
      const value = (settings || {})[key];
      if (!studio.state.settings.has(key))
        d3.select(list.node().options[0]).text(value ? `${kAsFile} (${value})` : kAsFile);
    }
  };
  const makeControls = (root, studio) => {
    const section = root.append("section").attr("class", "tried");
    section.append("h2").text("What is tried");
    const row = section.append("div").attr("class", "control-row").node();
    const at = { ...addChoices(row, studio), ...addWords(section, studio) };
    at.machine.on("change", function () { if (this.value) openUnlessUnsaved(studio, at, this.value); });
    fillFaults(studio, at.fail, []);
    return {
      show: () => showControls(studio, at),
      showAnswered: () => { showSettingErrors(studio, at); showWhatFileHas(studio, at); },
      fillMachines: () => fillMachines(studio, at.machine),
      fillFaults: (faults) => fillFaults(studio, at.fail, faults),
      sayAnswer: (words) => at.answer.text(words),
      sayProblem: (words) => {
        at.problem.text(words);
        at.size.attr("aria-invalid", / size/.test(words) ? "true" : null);
      },
    };
  };

  Object.assign(lanewise.explore, { control, button, fillOptions, show, kAsFile, makeControls });
})();
