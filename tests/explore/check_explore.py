#!/usr/bin/env python3
"""Drives the page of `lanewise explore` in a browser through changes, and holds what it shows to what the server answers.

usage: check_explore.py PROGRAM
Exit code 77 where there is no Chromium, or the program was built without cpp-httplib or d3.
"""
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pages"))
from browser import Browser, find_chromium  # noqa: E402
from check_pages import time  # noqa: E402
from served import SKIPPED, Served  # noqa: E402

MACHINE = "rtx6000pro-x8-bcm"


def choose(browser, selector, value):
    """Sets a control and tells the page, as a user's choice does."""
    browser.evaluate(f"""(() => {{
        const control = document.querySelector({json.dumps(selector)});
        control.value = {json.dumps(value)};
        for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, {{ bubbles: true }}));
    }})()""")


class Check:
    def __init__(self, browser, served):
        self.browser, self.served = browser, served
        self.problems = []
        status, text = served.ask("/open", {"name": MACHINE})
        self.opened = json.loads(text.split("\r\n\r\n", 1)[1])
        self.answered = 0

    def expect(self, is_so, what):
        if not is_so:
            self.problems.append(what)

    def wait(self):
        """Until the page has drawn the answer to the last change."""
        self.browser.wait_until(f"Number(document.documentElement.dataset.answered || 0) > {self.answered}")
        self.browser.wait_until("!document.documentElement.dataset.asking")
        self.answered = int(self.browser.evaluate("document.documentElement.dataset.answered"))

    def answer(self, settings, text=None):
        """What the server says of these settings."""
        _, answer = self.served.ask("/evaluate", {
            "file": self.opened["file"], "text": text or self.opened["text"], "settings": settings, "bytes": "256 MiB",
            "from": self.browser.evaluate("document.querySelector('#route-from').value"),
            "to": self.browser.evaluate("document.querySelector('#route-to').value"), "want": ["route", "jobs", "matrix"]})
        return json.loads(answer.split("\r\n\r\n", 1)[1])

    def compare(self, what, settings, text=None):
        """Jobs, route and matrix of the page with those of the server."""
        wanted = self.answer(settings, text)
        shown = dict(self.browser.evaluate(
            "[...document.querySelectorAll('[data-job]')].map((row) => [row.dataset.job, Number(row.dataset.timeUs)])"))
        for job in wanted["jobs"]:
            self.expect(abs(shown.get(job["name"], 0) / job["time_us"] - 1) < 1e-9,
                        f"{what}: {job['name']} is {shown.get(job['name'])} us on the page, not {job['time_us']}")
            page = self.browser.evaluate("document.querySelector('#jobs').textContent")
            self.expect(time(job["time_us"]) in page, f"{what}: '{time(job['time_us'])}' is not in the jobs")
        route = wanted["route"]["candidates"][wanted["route"]["chosen"]]
        page = " ".join(self.browser.evaluate("document.querySelector('main').textContent").split())
        self.expect(time(route["time_us"]) in page, f"{what}: the route's {time(route['time_us'])} is not on the page")
        for hop in route["route"]:
            self.expect(hop in page, f"{what}: the hop {hop} is not on the page")
        slowest = max(cell["time_us"] for cell in wanted["matrix"]["cells"] if cell["from"] != cell["to"])
        self.expect(slowest > 0, f"{what}: no matrix")

    def run(self):
        browser = self.browser
        browser.open(self.served.address)
        self.wait()
        self.compare("as opened", [])

        choose(browser, "#acs", "on")
        self.wait()
        self.compare("ACS on", ["acs=on"])

        choose(browser, "#setting", "link@gpu0=gen3 x8")
        browser.evaluate("document.querySelector('#setting').focus()")
        browser.press("Enter")
        self.wait()
        self.compare("a narrow link", ["acs=on", "link@gpu0=gen3 x8"])

        choose(browser, "#fail", browser.evaluate(
            "[...document.querySelectorAll('#fail option')].find((one) => one.textContent.includes('gpu3 lost')).value"))
        self.wait()
        jobs = self.answer(["acs=on", "link@gpu0=gen3 x8", "off@gpu3=true"])["jobs"]
        self.expect(time(jobs[0]["time_us"]) in browser.evaluate("document.querySelector('#jobs').textContent"),
                    "a lost GPU: the all-reduce of the others is not on the page")

        browser.click("#undo-changes")
        self.wait()
        self.compare("undone", [])

        lines = self.opened["text"].split("\n")
        wrong = next(i for i, line in enumerate(lines) if "sockets:" in line)
        browser.evaluate("document.querySelector('#file').open = true")
        choose(browser, "#file-text", "\n".join([*lines[:wrong], "socket: 3", *lines[wrong:]]))
        self.wait()
        errors = browser.evaluate("document.querySelector('#file-errors').textContent")
        self.expect(f"{wrong + 1}:" in errors and "socket" in errors, f"the error in line {wrong + 1} is not shown: {errors}")
        self.compare("a wrong text leaves what was", [])

        text = self.opened["text"].replace("part: rtx-pro-6000-blackwell-server, link: gen5 x16",
                                           "part: rtx-pro-6000-blackwell-server, link: gen4 x8")
        self.expect(text != self.opened["text"], "the machine's text has other links than this test knows")
        choose(browser, "#file-text", text)
        self.wait()
        self.compare("another text", [], text)
        choose(browser, "#file-name", "mine.yaml")
        browser.click("#save")
        browser.wait_until("document.querySelector('#saved').textContent.includes('Saved')")
        return text


def main():
    if find_chromium() is None:
        print("no Chromium: install the package chromium (./setup.sh install page)")
        sys.exit(SKIPPED)
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        served = Served(program, folder, MACHINE)
        with Browser() as browser:
            check = Check(browser, served)
            text = check.run()
            check.expect((pathlib.Path(folder) / "mine.yaml").read_text() == text, "what was saved is not the text")
            # The wrong text is answered as such, which is no failure of the page.
            check.problems += [f"console: {line}" for line in browser.console]
        check.expect(served.stop() == 0, "Ctrl-C did not end it well")
        for problem in check.problems:
            print(problem)
        sys.exit(1 if check.problems else 0)


if __name__ == "__main__":
    main()
