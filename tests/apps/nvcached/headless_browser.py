"""A headless Chromium, driven through its DevTools pipe: no port, no profile of a user, no network.
It keeps every error of a page and every address that it asks for."""
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

LONG_SECONDS = 120
NAMES = ("chromium", "chromium-browser", "google-chrome")
# Nothing of the browser's own asks the network; a name but for localhost is not found.
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
           "--no-first-run", "--disable-background-networking", "--disable-component-update",
           "--disable-sync", "--disable-extensions", "--no-default-browser-check",
           "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
           "--remote-debugging-pipe")


def find():
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page. `errors`: of its console, its scripts and its policy; `asked`: addresses."""

    def __init__(self, program, width=1280, height=900, dark=False):
        self.folder = tempfile.TemporaryDirectory(prefix="nvcached_browser_")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def take_places():
            os.setpgid(0, 0)
            # Over what is there: 3 and 4 may be the pipes' own.
            copies = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)
        self.process = subprocess.Popen(
            [program, *OPTIONS, f"--user-data-dir={self.folder.name}", "about:blank"],
            close_fds=False, preexec_fn=take_places, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=self.folder.name))
        os.close(theirs_in)
        os.close(theirs_out)
        self.incoming, self.outgoing = os.fdopen(ours_in, "rb", 0), os.fdopen(ours_out, "wb", 0)
        self.received = b""
        self.number = 0
        self.session = None
        self.errors, self.asked, self.loaded = [], [], False
        try:
            targets = self.call("Target.getTargets")["targetInfos"]
            page = next(each["targetId"] for each in targets if each["type"] == "page")
            self.session = self.call("Target.attachToTarget", targetId=page,
                                     flatten=True)["sessionId"]
            for domain in ("Runtime", "Network", "Log", "Page"):
                self.call(domain + ".enable")
            self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=1, mobile=width < 600)
            self.call("Emulation.setEmulatedMedia", features=[
                {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        except Exception:
            self.stop()
            raise

    def call(self, method, **parameters):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.outgoing.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next_message()
            if answer.get("id") != number:
                continue
            if "error" in answer:
                raise AssertionError(f"{method}: {answer['error']}")
            return answer["result"]

    def next_message(self):
        while b"\0" not in self.received:
            if not select.select([self.incoming], [], [], LONG_SECONDS)[0]:
                raise AssertionError(f"the browser says nothing; errors: {self.errors}")
            part = self.incoming.read(1 << 16)
            if not part:
                raise AssertionError("the browser ended")
            self.received += part
        text, self.received = self.received.split(b"\0", 1)
        message = json.loads(text)
        self.note(message.get("method"), message.get("params", {}))
        return message

    def note(self, method, what):
        if method == "Network.requestWillBeSent":
            self.asked.append(what["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning"):
            self.errors.append(str(what["args"]))
        elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.errors.append(what["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":  # the page stands still with it
            raise AssertionError(f"the page opened a dialog: {what['message']}")

    def open(self, address):
        self.call("Page.navigate", url=address)

    def value(self, script):
        """The value of a script's expression, by JSON."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def text(self, selector):
        return self.value(f"document.querySelector({json.dumps(selector)})?.textContent ?? null")

    def wait_for(self, script, errors=False):
        """Until the script's expression is true of the page. Fails if it never is, or at an error
        of the page, unless these are expected."""
        deadline = time.monotonic() + LONG_SECONDS
        while not self.value(script):
            if time.monotonic() > deadline or (self.errors and not errors):
                raise AssertionError(f"did not come true: {script}; errors: {self.errors}")
            time.sleep(0.05)

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)  # its own group: its helpers, too
        self.process.wait()
        self.incoming.close()
        self.outgoing.close()
        shutil.rmtree(self.folder.name, ignore_errors=True)  # a helper may still end
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
