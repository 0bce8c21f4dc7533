# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chromium, driven through its debugging pipe: what a user would do and see.

    with Browser(width=1200, height=900) as browser:
        browser.open("report.html")
        browser.evaluate("document.title")

Messages are JSON, ended by a zero byte, on file descriptors 3 and 4 of the
browser (https://chromedevtools.github.io/devtools-protocol).
"""
import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile

TIMEOUT_S = 120


class Browser:
    def __init__(self, width, height, dark=False):
        self.profile = tempfile.mkdtemp(prefix="braid-browser-")
        # The browser reads 3 and writes 4; a shell puts our pipes there.
        command_read, self.command = os.pipe()
        self.replies, reply_write = os.pipe()
        # Away from 3 and 4 themselves, which the shell overwrites.
        inherited = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (command_read, reply_write)]
        os.close(command_read)
        os.close(reply_write)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--hide-scrollbars", "--disable-extensions", "--disable-background-networking",
                   "--remote-debugging-pipe", f"--user-data-dir={self.profile}", f"--window-size={width},{height}"]
        self.process = subprocess.Popen(
            ["timeout", str(TIMEOUT_S), "bash", "-c", f'exec 3<&{inherited[0]} 4>&{inherited[1]}; exec chromium "$@"',
             "bash", *options, "about:blank"],
            pass_fds=inherited, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in inherited:
            os.close(end)
        self.buffer, self.number, self.session = b"", 0, None
        # What the page complained about, and what it asked for.
        self.complaints, self.requests, self.loaded = [], [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        if dark:
            self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.session = None
        try:
            self.call("Browser.close")
        except EOFError:
            pass
        self.process.wait(timeout=TIMEOUT_S)
        os.close(self.command)
        os.close(self.replies)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            data = os.read(self.replies, 1 << 16)
            if not data:
                raise EOFError("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        kind, what = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            self.complaints.append(what["exceptionDetails"].get("exception", {}).get("description", str(what)))
        elif kind == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(what["args"]))
        elif kind == "Log.entryAdded":
            self.complaints.append(what["entry"]["text"])
        elif kind == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif kind == "Page.loadEventFired":
            self.loaded = True

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.command, json.dumps(message).encode() + b"\0")
        while True:
            reply = self.receive()
            if reply.get("id") != self.number:
                self.note(reply)
            elif "error" in reply:
                raise RuntimeError(f"{method}: {reply['error']}")
            else:
                return reply["result"]

    def open(self, path):
        """Loads a file, and waits until its scripts have run."""
        self.loaded = False
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while not self.loaded:
            self.note(self.receive())
        self.settle()

    def settle(self):
        """Waits until what is to be drawn is drawn."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def evaluate(self, expression):
        """The value of a JavaScript expression, promises awaited."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        self.settle()

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1, buttons=1)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if len(key) == 1 and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **text)
        self.settle()

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]))
