// The machine's file on the page of `lanewise explore`: its text, which takes the changes in, and saving it.
(() => {
  const { isThere } = lanewise;
  const { settingText, inOrder, ask, questionOf, control, button, makeEditor } = lanewise.explore;

  const isUnsaved = (at) => at.editor.text() !== at.savedText;
  // What became of the text; it takes back an offer to replace a file.
  const say = (studio, at, words) => {
    at.saved.text(words);
    at.replace.property("hidden", true);
    at.title.text(`File ${studio.state.file}${isUnsaved(at) ? " (not saved)" : ""}`);
  };
  const replaceText = (studio, at, words) => {
    at.editor.put(words);
    studio.state.text = words;
    say(studio, at, "");
    studio.touch();
  };
  const showErrors = (studio, at, errors) => {
    const wasWrong = at.isWrong;
    at.isWrong = Boolean(errors);
    at.editor.showErrors(errors || [], studio.state.file);
    if (at.isWrong) studio.sayOld("The text cannot be read.");
    if (at.isWrong && !wasWrong) at.details.property("open", true);
  };
  const writeChanges = async (studio, at) => {
    const { state } = studio;
    at.editor.flush();
    const { settings } = questionOf(state);
    try {
      const answer = await ask("/evaluate", { ...questionOf(state), want: ["yaml"] });
      if (!isThere(answer.yaml)) {
        const error = answer.errors.find((one) => one.of === "yaml") || answer.errors[0];
        return say(studio, at, error ? error.message : "no text was given");
      }
      const wrong = new Set(answer.errors.filter((one) => one.of === "setting").map((one) => one.setting));
      if (String(settings) !== String(inOrder(state.settings))) return;  // changed meanwhile
      state.settings = new Map([...state.settings].filter((one) => wrong.has(settingText(one))));
      studio.opened.settings = [];
      replaceText(studio, at, answer.yaml);
    } catch (error) {
      say(studio, at, error.message);
    }
  };
  const addToFiles = (studio, name) => {
    const { start } = studio;
    if (start.files.includes(name)) return;
    start.files = [...start.files, name].sort(lanewise.byName);
    studio.controls.fillMachines();
  };
  const saveUnlessThere = (studio, at) => save(studio, at, { replace: false });
  const save = async (studio, at, { replace }) => {
    const [name, words] = [at.name.property("value").trim(), at.editor.text()];
    say(studio, at, "");
    try {
      const answer = await ask("/save", { file: name, text: words, replace });
      if (answer.exists) {
        say(studio, at, `${answer.exists} is there already.`);
        at.replace.property("hidden", false).text(`replace ${answer.exists}`);
        return;
      }
      at.savedText = words;
      addToFiles(studio, answer.saved);
      const changes = studio.state.settings.size ? " The changes above are not in it." : "";
      say(studio, at, `Saved ${answer.saved}.${changes}`);
    } catch (error) {
      say(studio, at, error.message);
    }
  };
  const show = (studio, at, text) => {
    const { name } = studio.state;
    at.savedText = text;
    at.editor.put(text);
    at.name.property("value", studio.start.files.includes(name) ? name : `${name.replace(/[^\w.-]+/g, "-")}.yaml`);
    say(studio, at, "");
  };

  const makeFile = (root, studio) => {
    const details = root.append("details").attr("class", "file").attr("id", "file");
    const at = { details, title: details.append("summary").text("File"), savedText: "", isWrong: false };
    at.editor = makeEditor(details.node(), (words) => {
      if (studio.state.text === words) return;
      studio.state.text = words;
      studio.touch();
    }, () => say(studio, at, ""));
    const tools = details.append("p").attr("class", "tools no-print");
    button(tools.node(), "write-changes", "put the changes into the text", () => writeChanges(studio, at));
    button(tools.node(), "text-as-opened", "text as it was opened", () => replaceText(studio, at, studio.opened.text));
    at.name = control(tools.node(), "save as", "input", "file-name").attr("size", 28)
      .on("keydown", () => { if (d3.event.key === "Enter") saveUnlessThere(studio, at); })
      .on("input", () => say(studio, at, ""));
    button(tools.node(), "save", "save", () => saveUnlessThere(studio, at));
    at.replace = button(tools.node(), "replace", "replace it", () => save(studio, at, { replace: true }))
      .property("hidden", true);
    at.saved = tools.append("span").attr("id", "saved").attr("role", "status");
    addEventListener("beforeunload", (event) => {
      if (!studio.state.file || !isUnsaved(at)) return;
      event.preventDefault();
      event.returnValue = "";
    });
    return {
      show: (text) => show(studio, at, text),  // one that was opened
      showErrors: (errors) => showErrors(studio, at, errors),
      isUnsaved: () => isUnsaved(at),
      isWrong: () => at.isWrong,
    };
  };

  Object.assign(lanewise.explore, { makeFile });
})();
