// The page of `lanewise explore` (explore/1): changes of a machine, and what they do to every pair, a route and jobs.
// It asks the server that it came from. Its parts are in explore/; they share one `studio`:
//   state: what is tried; opened: what that is undone to; before: {question, words} to compare with;
//   now, then, faults: answers; controls, machine, jobs, pairs, route, file: the parts of the page.
(() => {
  const { parsedSetting, inOrder, ask, questionOf, Answers, makeControls, makeMachine, makeJobs, makePairs, makeRoute,
    makeFile, follow } = lanewise.explore;

  const newStudio = (start) => ({
    start,
    state: { name: "", file: "", text: "", settings: new Map(), bytes: "256 MiB", library: "best", from: "", to: "" },
    opened: { text: "", settings: [] },
    before: null,
    now: new Answers(), then: new Answers(), faults: new Answers(),
    isBehind: false,  // the state changed since it was asked for
    isFollowing: false,
    answered: 0,
    jobTime: 0,  // ms that the jobs took last
    areJobsAsked: false,
  });

  // ---------------------------------------------------------------------------------- changes of the state
  // A new value of a setting replaces the old one and is the last that is made; an empty one takes it away.
  const set = ({ state }, key, value) => {
    state.settings.delete(key);
    if (value) state.settings.set(key, value);
  };
  // After any change of the state.
  const touch = (studio) => {
    studio.controls.sayProblem("");
    studio.show();
    follow(studio);
  };
  const setBefore = (studio, words) => {
    const { file, text, settings, library } = questionOf(studio.state);
    studio.before = { question: { file, text, settings, library }, words };
  };
  const compareWithNow = (studio) => {
    const { state, opened, controls } = studio;
    if (!studio.before) return;
    if (studio.file.isWrong())
      return controls.sayProblem("The text cannot be read: first mend it, then compare with it.");
    const changes = inOrder(state.settings);
    const words = [changes.length ? `${state.name} with ${changes.join(", ")}` : `${state.name} without changes`];
    if (state.text !== opened.text) words.push("with the text that was below then");
    if (state.library !== "best") words.push(`library ${state.library}`);
    setBefore(studio, words.join(", "));
    touch(studio);
  };
  const open = async (studio, name) => {
    const { state } = studio;
    try {
      const { file, text, settings } = await ask("/open", { name });
      studio.opened = { text, settings };
      Object.assign(state, { name, file, text, from: "", to: "", settings: new Map(settings.map(parsedSetting)) });
      Object.assign(studio, { now: new Answers(), then: new Answers(), jobTime: 0, areJobsAsked: false });
      studio.machine.forgetPicked();
      setBefore(studio, settings.length ? `${name} as it was opened, with ${settings.join(", ")}`
        : `${name} as it was opened`);
      studio.file.show(text);
      touch(studio);
    } catch (error) {
      studio.show();
      studio.controls.sayProblem(error.message);
    }
  };
  const undo = (studio) => {
    studio.state.settings = new Map(studio.opened.settings.map(parsedSetting));
    touch(studio);
  };

  // ---------------------------------------------------------------------------------- the page
  const drawAnswers = (studio, results) => {
    results.classed("is-empty", false);  // what is hidden cannot be measured
    studio.machine.draw();
    studio.sayOld("");
    for (const part of [studio.jobs, studio.pairs, studio.route]) part.draw();
    studio.machine.drawPanel();
    studio.route.fillPlaces();
    studio.controls.showAnswered();
  };
  // What is shown stays, marked as older than what was tried; no words: it is of now.
  const sayOld = (studio, results, note, words) => {
    const isEmpty = !studio.machine.drawn();
    results.classed("is-old", Boolean(words)).classed("is-empty", isEmpty);
    note.property("hidden", !words).text(words && !isEmpty ? `${words} This is what was found last.` : words);
  };
  const makePage = (root, studio) => {
    const page = d3.select(root).append("div").attr("class", "explore");
    studio.controls = makeControls(page, studio);
    const results = page.append("div").attr("class", "results");
    const oldNote = results.append("p").attr("class", "problem").attr("id", "old-results").property("hidden", true);
    const upper = results.append("div").attr("class", "beside upper");
    studio.machine = makeMachine(upper, studio);
    studio.jobs = makeJobs(upper, studio);
    const lower = results.append("div").attr("class", "beside lower");
    studio.pairs = makePairs(lower, studio);
    studio.route = makeRoute(lower, studio);
    studio.file = makeFile(page, studio);
    studio.draw = () => drawAnswers(studio, results);
    studio.sayOld = (words) => sayOld(studio, results, oldNote, words);
  };
  lanewise.view("explore/1", (root, start) => {
    const studio = newStudio(start);
    Object.assign(studio, {
      set: (key, value) => set(studio, key, value),
      change: (key, value) => { set(studio, key, value); touch(studio); },
      touch: () => touch(studio),
      undo: () => undo(studio),
      setBefore: (words) => setBefore(studio, words),
      compareWithNow: () => compareWithNow(studio),
      open: (name) => open(studio, name),
      show: () => { studio.controls.show(); studio.route.fillPlaces(); },  // the state
    });
    makePage(root, studio);
    studio.controls.fillMachines();
    studio.show();
    if (start.opened.length) studio.open(start.opened[0].name);
    else studio.controls.sayAnswer("Choose a machine to begin with.");
  });
})();
