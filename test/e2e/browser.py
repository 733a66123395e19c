"""A headless Chromium by its WebDriver, spoken to over HTTP: needs chromium-driver, and nothing else."""
import base64
import http.client
import json
import os
import shutil
import signal
import subprocess
import tempfile

DRIVER = shutil.which("chromedriver")
CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--disable-background-networking", "--no-first-run",
             "--force-device-scale-factor=1"]
KEYS = {"Tab": "\ue004", "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015",
        "Home": "\ue011", "End": "\ue010", "Enter": "\ue007", "Space": "\ue00d"}


def is_there():
    return bool(DRIVER and CHROMIUM)


class Browser:
    def __init__(self, timeout=60):
        self.timeout = timeout
        self.home = tempfile.mkdtemp(prefix="nvmemu-browser-")
        # A session of its own: whatever the browser starts ends with it.
        self.driver = subprocess.Popen(
            [DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=os.environ | {"HOME": self.home}, start_new_session=True)
        self.session = None
        try:
            self.port = self.read_port()
            options = {"binary": CHROMIUM, "args": [*ARGUMENTS, f"--user-data-dir={self.home}/profile"]}
            always = {"browserName": "chrome", "goog:chromeOptions": options,
                      "goog:loggingPrefs": {"browser": "ALL"}}
            self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": always}})["sessionId"]
        except Exception:
            self.close()
            raise

    def read_port(self):
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return int(line.rstrip(". \n").rsplit(" ", 1)[1])
        raise RuntimeError("chromedriver did not start")

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        text = json.dumps(body) if body is not None else None
        connection.request(method, path, text, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())["value"]
        connection.close()
        if isinstance(answer, dict) and answer.get("error"):
            raise RuntimeError(f"{path}: {answer['error']}: {answer['message']}")
        return answer

    def command(self, path, body=None, method="POST"):
        return self.call(method, f"/session/{self.session}{path}", {} if body is None and method == "POST" else body)

    def devtools(self, name, **parameters):
        return self.command("/goog/cdp/execute", {"cmd": name, "params": parameters})

    def look(self, width, height, scheme="light"):
        """The size of the window, and which of the two colour schemes its user likes."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path):
        self.command("/url", {"url": f"file://{os.path.abspath(path)}"})

    def run(self, script, *args):
        return self.command("/execute/sync", {"script": script, "args": list(args)})

    def keys(self, *names):
        actions = [{"type": kind, "value": KEYS.get(name, name)}
                   for name in names for kind in ("keyDown", "keyUp")]
        self.command("/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def point(self, x, y, click=False):
        actions = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.command("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def log(self):
        """What the page has said to the console since the last time: errors above all."""
        return self.command("/se/log", {"type": "browser"})

    def screenshot(self, path, until=None):
        """Of the whole page, or down to the end of the first element that the selector finds."""
        size = self.run("""
            const end = arguments[0] && document.querySelector(arguments[0]).getBoundingClientRect().bottom;
            return [document.documentElement.clientWidth,
                    Math.ceil(end ? end + scrollY : document.documentElement.scrollHeight)]""", until)
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        data = self.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        if self.session:
            try:
                self.command("", method="DELETE")
            except Exception:  # it is ended below in any case
                pass
        try:
            os.killpg(self.driver.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.driver.wait()
        shutil.rmtree(self.home, ignore_errors=True)
