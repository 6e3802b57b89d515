// What the page of `lanewise explore` asks its server, and the parts of answers that it keeps.
// The server keeps nothing of a page: each request says all, and the latest one counts.
(() => {
  // ---------------------------------------------------------------------------------- settings
  // "off@gpu3" alone means true, as it does on the command line.
  const parsedSetting = (text) => {
    const at = text.indexOf("=");
    return at < 0 ? [text.trim(), "true"] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  };
  const settingText = ([key, value]) => `${key}=${value}`;
  // What resets others goes first: a new part its link, acs=... all of acs@NAME. nvlink=off makes way for other parts.
  const rankOf = (key) => (key === "nvlink" ? 0 : key.startsWith("part@") ? 1 : key.includes("@") ? 3 : 2);
  const inOrder = (settings) => [...settings].sort((a, b) => rankOf(a[0]) - rankOf(b[0])).map(settingText);

  // ---------------------------------------------------------------------------------- the server
  const token = new URLSearchParams(location.search).get("token") || "";
  const stopped = "lanewise explore was stopped; start it again";
  class ServerError extends Error {}
  class Overtaken extends Error {}
  let evaluation = null;  // the request under way, which a newer state overtakes
  const overtake = () => { if (evaluation) evaluation.abort(); };
  const send = async (path, request) => {
    const control = new AbortController();
    if (path === "/evaluate") evaluation = control;
    let response;
    let answer;
    try {
      response = await fetch(`${path}?token=${encodeURIComponent(token)}`, { method: "POST", signal: control.signal,
        headers: { "Content-Type": "application/json" }, body: JSON.stringify(request) });
      answer = await response.json();
    } catch (error) {
      if (control.signal.aborted) throw new Overtaken();
      throw new ServerError(stopped);
    } finally {
      if (evaluation === control) evaluation = null;
    }
    if (response.status === 503) throw new Overtaken("another page asked this server meanwhile; one page at a time");
    if (!response.ok) throw new ServerError(answer.error || `the server answers with status ${response.status}`);
    return answer;
  };
  // One request at a time, in the order in which they are made.
  let lastRequest = Promise.resolve();
  const ask = (path, request) => {
    const answer = lastRequest.then(() => send(path, request));
    lastRequest = answer.catch(() => {});
    return answer;
  };

  // ---------------------------------------------------------------------------------- answers
  // What is asked in this state of the page.
  const questionOf = (state) => ({ file: state.file, text: state.text, settings: inOrder(state.settings),
    bytes: state.bytes, library: state.library, from: state.from, to: state.to });
  // What each part of an answer depends on. A part is asked for again only where that changed.
  const dependsOn = {
    machine: (question) => [question.file, question.text, question.settings],
    matrix: (question) => [question.file, question.text, question.settings, question.bytes],
    route: (question) => [question.file, question.text, question.settings, question.bytes, question.from, question.to],
    jobs: (question) => [question.file, question.text, question.settings, question.bytes, question.library],
    faults: (question) => [question.file, question.text, question.settings],
  };
  const keyOf = (part, question) => JSON.stringify(dependsOn[part](question));
  // Parts of answers to one question, each with the key of what it depends on: {machine: {key, value, problem}, ...}
  class Answers {
    constructor() { this.parts = {}; }
    value(part) { return this.parts[part] && this.parts[part].value; }
    problem(part) { return this.parts[part] && this.parts[part].problem; }
    has(part, question) { return Boolean(this.parts[part]) && this.parts[part].key === keyOf(part, question); }
    // Asks for what is missing; takes from `other` what that knows. Returns the errors of the text, if it has any.
    async bring(parts, question, other) {
      for (const part of parts)
        if (!this.has(part, question) && other && other.has(part, question)) this.parts[part] = other.parts[part];
      const want = parts.filter((part) => !this.has(part, question));
      if (want.length === 0) return null;
      const answer = await ask("/evaluate", { ...question, want });
      const wrong = answer.errors.filter((error) => error.of === "text");
      if (wrong.length) return wrong;
      this.places = answer.places;
      this.settingErrors = answer.errors.filter((error) => error.of === "setting");
      for (const part of want) {
        const problem = answer.errors.filter((error) => error.of === part).map((error) => error.message).join("\n");
        this.parts[part] = { key: keyOf(part, question), value: answer[part], problem };
      }
      return null;
    }
  }


  lanewise.explore = { parsedSetting, settingText, inOrder, ServerError, Overtaken, overtake, ask,
    questionOf, Answers };
})();
