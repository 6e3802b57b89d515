// Answers what is tried on the page of `lanewise explore`, part by part, as it changes.
(() => {
  const { time } = lanewise;
  const { inOrder, ServerError, Overtaken, overtake, questionOf, Answers } = lanewise.explore;
  const kLongJobTime = 3000;  // ms
  const kLargePlaces = 512;
  const kMostOtherClasses = 24;

  const millisecondsSince = (begun) => Math.max(1, Math.round(performance.now() - begun));
  // Before is asked the same of: of another size, or another pair, it could not be compared.
  const questionBefore = (studio, { bytes, from, to }) => ({ ...studio.before.question, bytes, from, to });
  const finish = (studio, words) => {
    studio.controls.sayAnswer(words);
    document.documentElement.dataset.answered = String(++studio.answered);
  };
  const chooseEnds = (studio) => {
    const { state, now } = studio;
    const places = now.places || [];
    if (places.length < 2) return;
    const nodeOf = (name) => name.slice(0, name.lastIndexOf("/") + 1);
    const { cells, classes } = now.value("matrix") || {};
    state.from = places[0];
    // GPUs come first, memories last. NICs do not send to NICs.
    state.to = (cells || classes || []).length === 0 ? places[places.length - 1]
      : places.find((name) => nodeOf(name) !== nodeOf(places[0])) || places[1];
  };

  // ---------------------------------------------------------------------------------- parts of an answer
  // Each of these ends early where the state changed meanwhile: studio.isBehind.

  // The machine, its pairs and a route, as they are now. Returns the question, or null where the text cannot be read.
  const bringNow = async (studio) => {
    const { state } = studio;
    const question = questionOf(state);
    const wrong = await studio.now.bring(["machine", "matrix"].concat(state.from ? ["route"] : []), question,
      studio.then);
    if (studio.isBehind) return null;
    studio.file.showErrors(wrong);
    if (wrong) {
      finish(studio, "");
      return null;
    }
    if (state.from) return question;
    chooseEnds(studio);
    const whole = questionOf(state);
    await studio.now.bring(["route"], whole, studio.then);
    return whole;
  };
  // The same of what was before. Where its text cannot be read, what is now takes its place.
  const bringBefore = async (studio, question) => {
    const bring = () => studio.then.bring(["matrix", "route"], questionBefore(studio, question), studio.now);
    const wrong = await bring();
    if (studio.isBehind) return;
    if (wrong) {
      studio.setBefore(`${studio.state.name} as it could first be read`);
      studio.show();
      await bring();
    }
    await bringOtherClasses(studio, questionBefore(studio, question));
  };
  // What a matrix would have of the pair of a route.
  const entryOf = (route) => {
    const chosen = route.candidates[route.chosen];
    if (!chosen) return { mechanism: null };
    const { mechanism, time_us, time_interval_us } = chosen;
    return { mechanism, time_us, time_interval_us,
      bandwidth_GBps: time_us ? route.bytes / time_us / 1000 : undefined };
  };
  // A class of pairs is called by one of them, and a change may divide classes. What such a pair was before, its
  // route says: few classes are new at once.
  const bringOtherClasses = async (studio, question) => {
    const [is, was] = [studio.now.value("matrix"), studio.then.value("matrix")];
    if (!is || !was || !is.classes || !was.classes) return;
    was.alsoKnown = was.alsoKnown || [];
    const known = new Set([...was.classes, ...was.alsoKnown].map((entry) => `${entry.from}>${entry.to}`));
    const missing = is.classes.filter((entry) => entry.from !== entry.to && !known.has(`${entry.from}>${entry.to}`));
    for (const { from, to } of missing.slice(0, kMostOtherClasses)) {
      const one = new Answers();
      await one.bring(["route"], { ...question, from, to });
      if (studio.isBehind) return;
      const route = one.value("route");
      if (route) was.alsoKnown.push({ from, to, ...entryOf(route) });
    }
  };
  // Jobs of a large cluster take seconds: there they are timed only when that is asked for. Returns whether they are
  // timed.
  const bringJobs = async (studio, question) => {
    const { now, then, jobs } = studio;
    const isKnown = now.has("jobs", question) || then.has("jobs", question);
    const isLarge = ((now.value("matrix") || {}).number_of_places || 0) > kLargePlaces;
    const isOffered = !isKnown && !studio.areJobsAsked && (isLarge || studio.jobTime > kLongJobTime);
    jobs.offer(!isOffered ? "" : studio.jobTime > 0 ? `time the jobs (took ${time(1e3 * studio.jobTime)} last)`
      : "time the jobs of this large cluster");
    if (isOffered) {
      jobs.say(" of what was tried last");
      return false;
    }
    const begun = performance.now();
    await now.bring(["jobs"], question, then);
    studio.areJobsAsked = false;
    if (!isKnown) studio.jobTime = performance.now() - begun;
    if (studio.isBehind) return false;
    jobs.say("");
    studio.draw();
    await then.bring(["jobs"], questionBefore(studio, question), now);
    if (!studio.isBehind) studio.draw();
    return true;
  };
  // Only the text and its parts say what can fail. A failure that is tried takes none out of the list.
  const bringFaults = async (studio) => {
    const { state, faults } = studio;
    const question = { ...questionOf(state),
      settings: inOrder(state.settings).filter((one) => one.startsWith("part@")) };
    if (faults.has("faults", question)) return;
    await faults.bring(["faults"], question);
    studio.controls.fillFaults(faults.value("faults") || []);
  };

  // ---------------------------------------------------------------------------------- an answer
  const answer = async (studio) => {
    if (!studio.state.file) return;
    const begun = performance.now();
    const question = await bringNow(studio);
    if (!question || studio.isBehind) return;
    studio.draw();
    if (!studio.now.has("jobs", question)) studio.jobs.say(" of what was tried last; those of now come");
    const took = `answered in ${millisecondsSince(begun)} ms`;
    studio.controls.sayAnswer(took);
    await bringBefore(studio, question);
    if (studio.isBehind) return;
    studio.draw();
    const areTimed = await bringJobs(studio, question);
    if (studio.isBehind) return;
    const withJobs = `${took}, jobs in ${millisecondsSince(begun)} ms`;
    await bringFaults(studio);
    if (studio.isBehind) return;
    finish(studio, areTimed ? withJobs : took);
  };
  // Answers the state as it is now; a change while it is on its way makes it begin anew.
  const follow = async (studio) => {
    studio.isBehind = true;
    if (studio.isFollowing) {
      overtake();
      return;
    }
    studio.isFollowing = true;
    while (studio.isBehind) {
      studio.isBehind = false;
      try {
        await answer(studio);
      } catch (error) {
        if (error instanceof Overtaken && studio.isBehind) continue;
        studio.isFollowing = error instanceof ServerError || error instanceof Overtaken;
        if (!studio.isFollowing) throw error;  // of this page: its console says where
        studio.jobs.say("");
        studio.controls.sayAnswer("");
        studio.sayOld("What was tried has no answer.");
        studio.controls.sayProblem(error.message);
      }
    }
    studio.isFollowing = false;
  };

  Object.assign(lanewise.explore, { follow });
})();
