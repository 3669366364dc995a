"""Interface names. A CLI prints them in full in headers and abbreviated in tables.

Everything in a driver compares full names. An abbreviation that is not listed is refused, never
guessed: two types may share a number.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from labtests.core.errors import CommandRejected
from labtests.drivers.displays.shapes import Unfit
from labtests.drivers.parsing import refuse
from labtests.transport.protocol import Reply

_NUMBER = re.compile(r"[0-9]+(?:/[0-9]+)*(?::[0-9]+)?(?:\.[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The interface types of one CLI: full name -> abbreviation. `listing` is the command that
    shows a switch's interfaces, `example` one of them, `file` where this table is."""

    cli: str
    abbreviations: Mapping[str, str]
    listing: str
    example: str
    file: str

    def full(self, name: str) -> str | None:
        """The name in full, without blanks: `wge 1/0/14` -> `Twenty-FiveGigE1/0/14`; None if
        unknown. Any case is read, as CLIs do."""
        compact = re.sub(r"\s+", "", name)
        for full, short in self.abbreviations.items():
            for spelling in (full, short):
                number = compact[len(spelling) :]
                if compact.lower().startswith(spelling.lower()) and _NUMBER.fullmatch(number):
                    return full + number
        return None

    def printed(self, name: str) -> str:
        """The full name of a port that the switch printed. Raises Unfit for an unknown type."""
        full = self.full(name)
        if full is None:
            remedy = f"add its type and abbreviation to {self.file}"
            raise Unfit(f"{name!r} is not a known interface name", remedy)
        return full

    def asked(self, device: str, port: str) -> str:
        """The full name of a port of the testbed file. Raises CommandRejected when there is no
        such type of interface: nothing was sent."""
        full = self.full(port)
        if full is None:
            raise CommandRejected(
                device,
                f"interface {port}",
                f"{port!r} is not a valid {self.cli} interface name",
                f"write it as the switch does in `{self.listing}` or in full, e.g. {self.example}",
            )
        return full

    def wrong(self, reply: Reply, asked: str, printed: object) -> NoReturn:
        """Refuse an answer that is about another port."""
        refuse(
            reply,
            f"asked for {asked}, the switch answered for {printed}",
            f"check the interface name in the testbed file against `{self.listing}`",
        )
