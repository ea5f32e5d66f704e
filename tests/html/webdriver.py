"""A headless Chromium, driven through chromedriver by the WebDriver protocol, with nothing but Python."""

import base64
import contextlib
import http.client
import json
import shutil
import socket
import subprocess
import tempfile
import time

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's key of an element
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Down": "\ue015", "Up": "\ue013", "Tab": "\ue004", "End": "\ue010",
        "Home": "\ue011", "PageDown": "\ue00f"}


def missing():
    """Why no browser can be driven here; empty where one can."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    programs = {"chromium": browser, "chromedriver": shutil.which("chromedriver")}
    absent = [name for name, path in programs.items() if not path]
    return f"{' and '.join(absent)} not found (Debian: apt-get install chromium chromium-driver)" if absent else ""


class WebDriverError(Exception):
    pass


class Browser:
    """One browser with one window. Use as a context manager."""

    def __init__(self, width=1280, height=800):
        self.profile = tempfile.TemporaryDirectory(prefix="aicf-html-")
        with socket.socket() as probe:  # a port that is free now
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        self.session = ""
        try:
            self._wait()
            self._start(width, height)
        except BaseException:
            self.close()
            raise

    def _wait(self):
        for _ in range(200):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            time.sleep(0.05)
        raise WebDriverError("chromedriver does not answer")

    def _start(self, width, height):
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--hide-scrollbars=false", f"--window-size={width},{height}", "--force-device-scale-factor=1",
                     "--disable-background-networking", f"--user-data-dir={self.profile.name}", "about:blank"]
        options = {"binary": shutil.which("chromium") or shutil.which("chromium-browser"), "args": arguments,
                   "perfLoggingPrefs": {"enableNetwork": True, "enablePage": False}}
        always = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        reply = self._send("POST", "/session", {"capabilities": {"alwaysMatch": always}})
        self.session = f"/session/{reply['sessionId']}"
        self.size(width, height)
        self.log("performance")

    def _send(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(value, dict) and "error" in value:
            raise WebDriverError(f"{method} {path}: {value['error']}: {value['message'].splitlines()[0]}")
        return value

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        with contextlib.suppress(OSError, WebDriverError, http.client.HTTPException):
            if self.session:
                self._send("DELETE", self.session)
        self.process.terminate()
        self.process.wait(20)
        with contextlib.suppress(OSError):
            self.profile.cleanup()

    def devtools(self, command, **parameters):
        return self._send("POST", f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width, height):
        """Size of the page itself."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                      mobile=False)

    def scheme(self, name):
        """What the system prefers: light or dark."""
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, url):
        self._send("POST", f"{self.session}/url", {"url": url})

    def run(self, script, *arguments):
        """The value of a function body, whose arguments are `arguments`."""
        return self._send("POST", f"{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments, seconds=10):
        """Until the function body gives something true; gives that."""
        deadline = time.monotonic() + seconds
        while True:
            value = self.run(script, *arguments)
            if value:
                return value
            if time.monotonic() > deadline:
                raise WebDriverError(f"never true: {script}")
            time.sleep(0.02)

    def find(self, selector):
        return self._send("POST", f"{self.session}/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        """A click of the pointer, as a user's: it fails where something lies over the element."""
        self._send("POST", f"{self.session}/element/{self.find(selector)}/click", {})

    def click_at(self, x, y):
        """A click of the pointer at a point of the page."""
        move = {"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}
        actions = [move, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        self._send("POST", f"{self.session}/actions", {"actions": [pointer]})

    def keys(self, *keys):
        """Keys pressed one after the other, where the focus is: names of KEYS or single characters."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self._send("POST", f"{self.session}/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def text(self, selector):
        return self.run("const e = document.querySelector(arguments[0]); return e ? e.innerText : null", selector)

    def log(self, kind):
        """What was logged since the last call: "browser" (the console) or "performance" (network events)."""
        return self._send("POST", f"{self.session}/se/log", {"type": kind})

    def requests(self):
        """Addresses that the page asked for since the last call, each with why it was blocked ("": it was not)."""
        events = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        failed = {e["params"]["requestId"]: e["params"].get("blockedReason", "") for e in events
                  if e["method"] == "Network.loadingFailed"}
        return [(e["params"]["request"]["url"], failed.get(e["params"]["requestId"], "")) for e in events
                if e["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path):
        image = self._send("GET", f"{self.session}/screenshot")
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))
