"""A session at a console: prompts, pages, control keys."""

from labtests.simlab.face import Console
from labtests.simlab.switch_cli.session import CliSession


class CliTerminal:
    """Takes lines; single keys while output is paged."""

    def __init__(self, session: CliSession, console: Console) -> None:
        self._session, self._console = session, console
        self._pager = session.cli.pager
        self._rest: list[str] = []  # of a display that waits for a key

    def open(self) -> None:
        """The banner and the first prompt are printed."""
        self._console.on_interrupt = self._interrupt
        self._console.on_suspend = self._suspend
        self._console.on_question = self._session.listing
        self._console.on_eof = lambda: self._console.exit(0)
        self._console.write(self._pager.banner + self._session.prompt)
        self._console.on_line = self._line

    def _line(self, line: str) -> None:
        faults = self._session.switch.faults
        if not faults.given(line) or faults.hangs(line):
            return  # no prompt comes until Ctrl-C
        text = self._session.run(line)
        faults.obeyed(line)
        if self._session.closing:
            self._console.write(text)
            self._console.exit(0)
            return
        self._rest = text.splitlines(keepends=True)
        pages = self._session.paging and self._console.pty
        self._print(self._page if pages else len(self._rest))

    @property
    def _page(self) -> int:
        return self._pager.lines or max(self._console.height - 1, 1)

    def _print(self, count: int) -> None:
        shown, self._rest = self._rest[:count], self._rest[count:]
        self._console.write("".join(shown))
        if self._rest:
            self._console.write(self._pager.more)
            self._console.on_key = self._key
        else:
            self._console.write(self._session.prompt)
            self._console.on_key = None

    def _key(self, key: str) -> None:
        """At the pager's prompt: a page, a line, or stop. Other keys do nothing."""
        pager = self._pager
        if key not in pager.page_keys + pager.line_keys + pager.end_keys:
            return
        self._console.write(pager.erase)
        if key in pager.end_keys:
            self._rest = []
        self._print(self._page if key in pager.page_keys else 1)

    def _interrupt(self) -> None:
        self._session.question = None
        self._console.write(f"\n{self._session.prompt}")

    def _suspend(self) -> None:
        """Ctrl-Z: back to the first view."""
        self._session.question = None
        self._session.go(self._session.cli.first_view)
        self._console.write(f"\n{self._session.prompt}")
