"""A headless Chromium, driven over two pipes (DevTools protocol): no port, no library."""

import base64
import json
import os
import subprocess
from fcntl import F_DUPFD, fcntl
from pathlib import Path
from types import TracebackType
from typing import Any, Self

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--no-first-run",
    "--remote-debugging-pipe",
)


class Chromium:
    """One page in it. What is said on its console is in `said`."""

    def __init__(self, program: str, profile: Path) -> None:
        (their_in, self._out), (self._in, their_out) = os.pipe(), os.pipe()

        def as_3_and_4() -> None:
            ends = [fcntl(end, F_DUPFD, 64) for end in (their_in, their_out)]
            for number, end in zip((3, 4), ends, strict=True):
                os.dup2(end, number)

        self._process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=as_3_and_4,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(their_in)
        os.close(their_out)
        self._rest, self._number, self._session = b"", 0, ""
        self.said: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._out)
        self._process.terminate()
        self._process.wait(timeout=20)
        os.close(self._in)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command and its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            found = self._read()
            if found.get("id") == self._number:
                assert "error" not in found, found["error"]
                return dict(found["result"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            some = os.read(self._in, 1 << 16)
            assert some, "the browser is gone"
            self._rest += some
        raw, _, self._rest = self._rest.partition(b"\0")
        found = dict(json.loads(raw))
        if found.get("method") == "Log.entryAdded":
            self.said.append(found["params"]["entry"]["text"])
        if found.get("method") == "Runtime.exceptionThrown":
            details = found["params"]["exceptionDetails"]
            self.said.append(str(details.get("exception", details).get("description", details)))
        self._last = found
        return found

    def open(self, address: str) -> None:
        """Wait until all of it is there, and its script has run."""
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=address)
        for _ in range(2000):
            if self.run("document.readyState === 'complete' && location.href !== 'about:blank'"):
                return
        raise AssertionError(f"{address} does not load")

    def run(self, script: str) -> Any:
        """The value of an expression; of a promise, what it becomes."""
        found = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def size(self, width: int, height: int) -> None:
        """Of the window."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, scheme: str) -> None:
        """light or dark."""
        wish = {"name": "prefers-color-scheme", "value": scheme}
        self.send("Emulation.setEmulatedMedia", features=[wish])

    def press(self, key: str) -> None:
        """One key, down and up."""
        named = {"Enter": 13, "ArrowLeft": 37, "ArrowRight": 39}
        more: dict[str, Any] = {"key": key}
        if key in named:
            more["windowsVirtualKeyCode"] = named[key]
            more |= {"text": "\r"} if key == "Enter" else {}
        else:
            more["text"] = key
        self.send("Input.dispatchKeyEvent", type="keyDown", **more)
        self.send("Input.dispatchKeyEvent", type="keyUp", **more)

    def picture(self, file: Path, *, whole: bool = False) -> bytes:
        """A PNG of the window, or of the whole page."""
        found = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        content = base64.b64decode(found["data"])
        file.write_bytes(content)
        return content

    def printed(self) -> bytes:
        """A PDF."""
        found = self.send("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(found["data"])
