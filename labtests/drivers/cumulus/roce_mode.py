"""RoCE mode, as a setting of the whole switch (`nv set qos roce mode lossless`)."""

from collections.abc import Iterator
from dataclasses import replace

from labtests.capabilities.records import RoceMode
from labtests.capabilities.settings import ROCE_MODE
from labtests.drivers.cumulus import profiles as p
from labtests.drivers.cumulus.roce import RoceView, roce_view
from labtests.transport.asking import Asking, attempt
from labtests.transport.commands import Shell

OFF = "off"


class CumulusRoceMode(p.NvueSetting[RoceMode]):
    """The mode that is applied. The way back rests on that alone, however the mode shows."""

    kind = ROCE_MODE
    feature = "roce"
    wide = True

    def read(self, port: str) -> Asking[RoceMode]:
        """Raises CommandRejected where the switch tells that another mode is in operation."""
        applied = yield from self.state(port)
        view = (yield from attempt(roce_view())) if applied.roce else None
        if isinstance(view, RoceView) and view.mode != applied.roce:
            problem = f"the mode is {view.mode} in operation, and {applied.roce} as applied"
            raise self.reject("nv show qos roce", problem, "wait, then look at `nv config diff`")
        return self.value(applied, port)

    def value(self, applied: p.Applied, port: str) -> RoceMode:
        """As applied."""
        return applied.roce or OFF

    def _made(self, applied: p.Applied, port: str, wanted: RoceMode) -> p.Applied:
        if wanted == self.value(applied, port):
            return applied
        leaves = applied.profiles[""]
        lost = {path[0] for path in leaves} - {"enable", *(["mode"] if applied.roce else [])}
        if lost and OFF in (wanted, self.value(applied, port)):
            problem = f"its {', '.join(sorted(lost))} would be lost when it is put back"
            raise self.reject("qos roce", problem, "take that away by hand first (`nv unset`)")
        on: p.Leaves = {**leaves, ("enable",): "on", ("mode",): wanted}
        off: p.Leaves = {("enable",): OFF}
        roce, told = ("", off) if wanted == OFF else (wanted, on)
        return replace(applied, roce=roce, profiles={"": told})

    def _lines(self, port: str, before: p.Applied, after: p.Applied) -> Iterator[Shell]:
        if not after.roce and before.roce:
            yield p.nv("unset", "qos", "roce")
        if after.roce and not before.roce:
            yield p.nv("set", "qos", "roce", "enable", "on")
        if after.roce not in ("", before.roce):
            yield p.nv("set", "qos", "roce", "mode", after.roce)
