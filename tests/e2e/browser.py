"""Chromium without a window, driven through the DevTools protocol over a pipe: no port, no library."""

import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
KEYS = {"Tab": 9, "Enter": 13, " ": 32, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Home": 36, "End": 35}


def browser_program():
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Browser:
    """One process; `open` has it show a page. `problems` are what scripts threw and what the policy of a page blocked."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="axle-browser-")
        read, self.commands = os.pipe()
        self.answers, write = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-dev-shm-usage", "--lang=en",
                   "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={self.folder}",
                   "--remote-debugging-pipe"]
        self.process = subprocess.Popen(["/bin/sh", "-c", f'exec "$@" 3<&{read} 4>&{write}', "sh", program, *options], pass_fds=(read, write),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(read), os.close(write)
        self.rest, self.number, self.events, self.problems, self.requests = b"", 0, [], [], []
        target = self.call("Target.createTarget", url="about:blank", session=None)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True, session=None)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility", "DOM"):
            self.call(domain + ".enable")

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.commands), os.close(self.answers)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self, timeout):
        end = time.monotonic() + timeout
        while b"\0" not in self.rest:
            if not select.select([self.answers], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.answers, 1 << 20)
            if not data:
                raise EOFError("the browser ended")
            self.rest += data
        message, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(message)
        method, said = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(said["exceptionDetails"].get("exception", {}).get("description") or said["exceptionDetails"]["text"])
        if method == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.problems.append(said["entry"]["text"])
        if method == "Page.javascriptDialogOpening":
            self.problems.append("a dialog: " + said["message"])
            self.send("Page.handleJavaScriptDialog", {"accept": True}, self.session)
        if method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
        return message

    def send(self, method, params, session):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        return self.number

    def call(self, method, session=..., **params):
        number = self.send(method, params, self.session if session is ... else session)
        while True:
            message = self.receive(60)
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message.get("method"))

    def open(self, url, scripts=True):
        self.problems.clear(), self.requests.clear()
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        # Else a page that differs by its fragment alone would not be loaded again.
        for one in ("about:blank", url):
            self.events.clear()
            self.call("Page.navigate", url=one)
            self.wait_for_load()

    def wait_for_load(self):
        while "Page.loadEventFired" not in self.events:
            self.events.append(self.receive(60).get("method"))
        self.events.clear()

    def run(self, expression):
        """Its value, which is data."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description"))
        return answer["result"].get("value")

    def press(self, key, shift=False):
        text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else None)
        common = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS.get(key, ord(key[0].upper())), "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def size(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path, whole=True):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def accessible(self):
        """(role, name) of everything that assistive technology is told."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")]
