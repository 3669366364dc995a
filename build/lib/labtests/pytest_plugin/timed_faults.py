"""Faults of a dry run: those that come when the run says how far it is, and those never met."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from labtests.core.errors import LabError

if TYPE_CHECKING:
    from labtests.simlab.control import LabProcess

Fault = Mapping[str, Any]


class TimedFaults:
    """What `--fault` asks for: at the start, or when a line of progress begins as `at` says."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.at_start = [fault for fault in faults if "at" not in fault]
        self._due = [fault for fault in faults if "at" in fault]
        self._refused: list[tuple[Fault, str]] = []
        self.not_met: list[dict[str, str]] = []

    def heard(self, line: str, suffer: Callable[..., None]) -> None:
        """A line of progress: what is due by it happens now, once."""
        for fault in [fault for fault in self._due if begins(line, fault["at"])]:
            self._due.remove(fault)
            try:
                suffer(**{key: value for key, value in fault.items() if key != "at"})
            except LabError as error:
                self._refused.append((fault, str(error)))

    def end(self, process: "LabProcess") -> None:
        """The run is over: what never came, or has acted on nothing, is known."""
        never = [(fault, f"no line of progress began {fault['at']!r}") for fault in self._due]
        try:
            found = process.ask({"faults_not_met": True})["faults_not_met"]
        except LabError as error:
            found = [{"fault": fault, "why": f"not known: {error}"} for fault in self.at_start]
        idle = [(each["fault"], each["why"]) for each in found]
        self.not_met = [
            {"fault": json.dumps(fault), "why": why}
            for fault, why in (*never, *self._refused, *idle)
        ]


def begins(line: str, beginning: str) -> bool:
    """Whether a line of progress begins so; `*` stands for anything."""
    return re.match(".*".join(map(re.escape, beginning.split("*"))), line) is not None
