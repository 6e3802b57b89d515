"""Drives a headless Chromium over pipes, by the DevTools protocol: it needs no port and no third-party module."""
import base64
import json
import os
import selectors
import shutil
import subprocess
import tempfile
import time


def find_chromium():
    """The program, or None where there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        found = shutil.which(name)
        if found:
            return found
    return None


class BrowserError(Exception):
    """What the browser or the page's script says went wrong."""


class Browser:
    """One browser with one page.

    with Browser() as browser:
        browser.open("http://127.0.0.1:8080/")
        assert browser.evaluate("document.title") == "lanewise"
    """

    def __init__(self, program=None, width=1400, height=1000):
        program = program or find_chromium()
        if program is None:
            raise BrowserError("there is no Chromium")
        self.console = []  # messages of the page's console and uncaught exceptions, as "kind: text"
        self.folder = tempfile.mkdtemp(prefix="lanewise-browser-")
        # The browser reads commands from descriptor 3 and writes to 4. A shell moves the pipes there.
        self.process = subprocess.Popen(
            ["sh", "-c", 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null', "sh", program, "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.received = b""
        self.events = []
        self.last_id = 0
        self.session = None
        try:
            target = self.command("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log"):
                self.command(f"{domain}.enable")
            self.set_size(width, height)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Ends the browser and removes its folder."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.selector.close()
        self.process.stdin.close()
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ------------------------------------------------------------------------------------------ messages
    def command(self, method, seconds=60, **parameters):
        """Sends a command of the protocol and returns its result."""
        self.last_id += 1
        number = self.last_id
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.process.stdin.fileno(), data):]
        end = time.monotonic() + seconds
        while True:
            answer = self._receive(end - time.monotonic())
            if answer is None:
                raise BrowserError(f"{method} has no answer after {seconds} s")
            if answer.get("id") == number:
                break
            self._take_event(answer)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error'].get('message')}")
        return answer.get("result", {})

    def _receive(self, seconds):
        """The next message, or None when none comes in this time."""
        end = time.monotonic() + seconds
        while b"\0" not in self.received:
            if not self.selector.select(max(0, end - time.monotonic())):
                return None
            part = os.read(self.process.stdout.fileno(), 1 << 16)
            if not part:
                raise BrowserError("the browser ended")
            self.received += part
        message, _, self.received = self.received.partition(b"\0")
        return json.loads(message)

    def _take_event(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            texts = [str(one.get("value", one.get("description", ""))) for one in parameters["args"]]
            self.console.append(f"{parameters['type']}: {' '.join(texts)}")
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.console.append("exception: " + details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            entry = parameters["entry"]
            self.console.append(f"{entry['level']}: {entry['text']} {entry.get('url', '')}".rstrip())
        elif method == "Page.javascriptDialogOpening":
            self.events.append(message)
            self.last_id += 1  # its answer is of no interest
            data = {"id": self.last_id, "method": "Page.handleJavaScriptDialog", "params": {"accept": True},
                    "sessionId": self.session}
            os.write(self.process.stdin.fileno(), json.dumps(data).encode() + b"\0")
        elif method:
            self.events.append(message)

    def wait_for_event(self, method, seconds=30):
        """Waits until an event of this name comes, or has come since the last time, and returns its parameters."""
        end = time.monotonic() + seconds
        while True:
            for i, event in enumerate(self.events):
                if event["method"] == method:
                    del self.events[: i + 1]
                    return event.get("params", {})
            message = self._receive(end - time.monotonic())
            if message is None:
                raise BrowserError(f"no {method} within {seconds} s")
            self._take_event(message)

    # ------------------------------------------------------------------------------------------ the page
    def open(self, url, seconds=30):
        """Opens an address and waits until it is loaded."""
        self.events.clear()
        answer = self.command("Page.navigate", url=url)
        if answer.get("errorText"):
            raise BrowserError(f"{url}: {answer['errorText']}")
        self.wait_for_event("Page.loadEventFired", seconds)

    def evaluate(self, javascript):
        """The value of an expression in the page; waits for a promise. The value goes through JSON."""
        answer = self.command("Runtime.evaluate", expression=javascript, returnByValue=True, awaitPromise=True,
                              userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait_until(self, javascript, seconds=30):
        """Waits until an expression is true, and returns its value."""
        end = time.monotonic() + seconds
        while True:
            value = self.evaluate(javascript)
            if value:
                return value
            if time.monotonic() > end:
                raise BrowserError(f"not true within {seconds} s: {javascript}")
            time.sleep(0.02)

    def press(self, key, text=None, modifiers=0):
        """Presses and releases a key: "Tab", "Enter", "ArrowDown", "a". modifiers: 2 is Ctrl, 8 is Shift."""
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                 "ArrowDown": 40, "Home": 36, "End": 35, "Backspace": 8, "Delete": 46}
        if text is None:
            text = "\r" if key == "Enter" else key if len(key) == 1 and not modifiers & 2 else ""
        known = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper())),
                 "modifiers": modifiers}
        self.command("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **known)
        self.command("Input.dispatchKeyEvent", type="keyUp", **known)

    def type(self, text):
        """Enters a text where the focus is."""
        self.command("Input.insertText", text=text)

    def click(self, selector):
        """Clicks the middle of the first element that a CSS selector finds, by the mouse."""
        x, y = self.evaluate(f"""(() => {{
            const found = document.querySelector({json.dumps(selector)});
            found.scrollIntoView({{ block: "center" }});
            const at = found.getBoundingClientRect();
            return [at.left + at.width / 2, at.top + at.height / 2];
        }})()""")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            is_move = kind == "mouseMoved"
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if is_move else "left",
                         clickCount=0 if is_move else 1)

    # ------------------------------------------------------------------------------------------ pictures
    def set_size(self, width, height):
        """Sets the size of the window in pixels."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                     mobile=False)

    def screenshot(self, file, width=None, height=None):
        """Writes a picture of the window as PNG; with a size, the window has it from then on."""
        if width:
            self.set_size(width, height)
        with open(file, "wb") as out:
            out.write(base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"]))

    def print_to_pdf(self, file):
        """Writes the page as it is printed."""
        with open(file, "wb") as out:
            out.write(base64.b64decode(self.command("Page.printToPDF", printBackground=True)["data"]))
