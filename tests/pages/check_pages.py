#!/usr/bin/env python3
"""Opens pages of --html in a browser: nothing on its console, and the figures of the JSON in the text of the page.

usage: check_pages.py PROGRAM [NAME]...
Exit code 77 where there is no Chromium, or the program was built without d3.
"""
import html.parser
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from browser import Browser, find_chromium

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


def rounded(value):
    """As page.js prints a number."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    if abs(value) >= 100:
        return f"{value:.1f}"
    digits = 2
    size = abs(value)
    while size >= 10:
        size, digits = size / 10, digits - 1
    while size < 1:
        size, digits = size * 10, digits + 1
    return f"{value:.{digits}f}"


def time(microseconds):
    for least, unit in ((1e6, "s"), (1e3, "ms"), (1, "us")):
        if microseconds >= least * 0.9995:
            return f"{rounded(microseconds / least)} {unit}"
    return f"{rounded(microseconds * 1e3)} ns"


def rate(gigabytes):
    return f"{rounded(gigabytes)} GB/s"


class Text(html.parser.HTMLParser):
    """The text of a page, without its scripts and styles."""

    def __init__(self):
        super().__init__()
        self.parts = []
        self.hidden = 0
        self.drawn = None

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "style"):
            self.hidden += 1
        if tag == "html":
            self.drawn = dict(attributes).get("data-drawn")

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.hidden -= 1

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


def devices(machine):
    """The names of all GPUs, NICs and switches of a machine's JSON."""
    found = []

    def visit(node):
        if isinstance(node, dict):
            found.extend(node[key] for key in ("gpu", "nic", "switch") if isinstance(node.get(key), str))
            for value in node.values():
                visit(value)
        elif isinstance(node, list):
            for value in node:
                visit(value)

    visit(machine["sockets"])
    return found


def of_design(result):
    wanted = []
    for candidate in result["candidates"]:
        if not candidate.get("detailed"):
            continue
        wanted.append(f"{candidate['score']:.3f}")
        for job in candidate["jobs"].values():
            wanted.append(time(job["time_us"]))
    return wanted


def of_why(result):
    chosen = result["candidates"][result["chosen"]]
    refused = [candidate["rule"] for candidate in result["candidates"] if not candidate["legal"]]
    return [time(chosen["time_us"]), result["from"], result["to"], *refused]


def of_matrix(result):
    rates = [cell["GBps"] for row in result.get("cells", []) for cell in row if isinstance(cell, dict) and "GBps" in cell]
    return [rounded(min(rates))] if rates else []


def of_faults(result):
    return [loss["what"] for loss in result["losses"] if loss["kept"] < 0.99][:10]


MPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

# The page's name, its command without --html, and the texts that have to be on it.
PAGES = {
    "show": (["show", "rtx6000pro-x8-bcm"], devices),
    "show-cluster": (["show", "hgx-h100-16"], lambda result: [result["title"]]),
    "matrix": (["matrix", "rtx6000pro-x8-bcm"], of_matrix),
    "why": (["why", "rtx6000pro-x8-bcm", "gpu0", "gpu5"], of_why),
    "why-run": (["why", "all-reduce-of-eight-uses-the-links", "--on", "hgx-h100"], lambda result: ["hgx-h100"]),
    "whatif": (["whatif", "rtx6000pro-x8-bcm", "--set", "acs=on"],
               lambda result: [change["because"] for change in result["changes"] if change.get("because")]),
    "faults": (["whatif", "rtx6000pro-x8-bcm", "--faults", "each"], of_faults),
    "run": (["run", "all-reduce-of-eight-uses-the-links", "--on", "hgx-h100"],
            lambda result: [time(result["makespan_us"]), result["resources"][0]["name"]]),
    "check": (["check", "acs-halves-bidirectional-p2p"], lambda result: ["acs-halves-bidirectional-p2p"]),
    "compare": (["compare", "{folder}/trace.json", "{folder}/trace.json"],
                lambda result: [time(result["makespan_us"][0]), time(result["steps"][0]["first_us"])]),
    "judge": (["judge", "a100x8-pcie-4sw", "docs/examples/nvbandwidth-slow-gpu.txt"], lambda result: ["gpu3"]),
    "doctor": (["doctor", "--on", "ethernet-2"], lambda result: ["every node", "ethernet-generic"]),
    "design": (["design", "docs/examples/inference-box.yaml", "--faults", "each"], of_design),
    "rank": (["rank", "hgx-h100", "hgx-h200"], of_design),
    "workload": (["workload", "docs/examples/llama-3-70b-on-128-gpus.yaml", "--mode", "estimate"],
                 lambda result: [time(result["steps"][0]["step_us"])] if "step_us" in result["steps"][0] else []),
    "report": (["report", "hgx-h100", "--mode", "estimate"], lambda result: []),
    "accuracy": (["accuracy", "measurements/published/h100x2-vm-nccl.yaml"], lambda result: []),
}


def open_page(browser, page):
    """The page after its scripts ran, and what they wrote to the console."""
    browser.console.clear()
    browser.open(f"file://{page}")
    browser.wait_until("document.documentElement.dataset.drawn !== undefined")
    return browser.evaluate("document.documentElement.outerHTML"), list(browser.console)


def started(program, command):
    """How a command is started: one that examines nodes, as two processes of this host."""
    if command[0] != "doctor":
        return [program, *command]
    return ["mpirun", "--oversubscribe", "-n", "2", program, *command]


def check(program, browser, name, folder):
    command, wanted_of = PAGES[name]
    page = pathlib.Path(folder) / f"{name}.html"
    if name == "compare":
        subprocess.run([program, "run", "all-reduce-of-eight-uses-the-links", "--on", "hgx-h100", "-o",
                        f"{folder}/trace.json"], cwd=ROOT, capture_output=True, timeout=300, check=True)
    command = [word.format(folder=folder) for word in command]
    if command[0] == "doctor" and shutil.which("mpirun") is None:
        print("doctor: skipped, there is no mpirun")
        return []
    run = subprocess.run([*started(program, command), "--json", "--html", str(page)], cwd=ROOT, capture_output=True,
                         text=True, timeout=300, check=False, env=os.environ | MPI_AS_ROOT)
    if run.returncode == 3 and "node-d3" in run.stderr:
        print(run.stderr.strip())
        sys.exit(SKIPPED)
    problems = []
    if run.returncode not in (0, 1) or not page.exists():
        return [f"exit code {run.returncode}: {run.stderr.strip()}"]
    result = json.loads(run.stdout)
    if page.stat().st_size > 2e6:
        problems.append(f"{page.stat().st_size} bytes, and 2 MB are allowed")
    dom, console = open_page(browser, page)
    problems += [f"console: {line}" for line in console]
    text = Text()
    text.feed(dom)
    if text.drawn != result["lanewise"]:
        problems.append(f"drawn: {text.drawn}, and the result is {result['lanewise']}")
    if f'"lanewise": "{result["lanewise"]}"' in " ".join(text.parts):
        problems.append("no view draws it: the page shows JSON")
    shown = " ".join(" ".join(text.parts).split())
    problems += [f"'{wanted}' is not on the page" for wanted in wanted_of(result) if wanted not in shown]
    return problems


def main():
    program, *names = sys.argv[1:]
    if find_chromium() is None:
        print("no Chromium: install the package chromium (./setup.sh install page)")
        sys.exit(SKIPPED)
    failed = False
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        for name in names or PAGES:
            problems = check(program, browser, name, folder)
            print(f"{name}: {'fine' if not problems else 'failed'}", flush=True)
            for problem in problems:
                print(f"  {problem}")
            failed = failed or bool(problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
