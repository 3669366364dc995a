"""RoCE mode, as a setting of the whole switch (`nv set qos roce mode lossless`)."""

from collections.abc import Iterator
from dataclasses import replace

from labtests.capabilities.records import RoceMode
from labtests.capabilities.settings import ROCE_MODE
from labtests.drivers.cumulus import profiles as p
from labtests.drivers.cumulus.roce import RoceView, roce_view
from labtests.transport.asking import Asking, attempt
from labtests.transport.commands import Shell


class CumulusRoceMode(p.NvueSetting[RoceMode]):
    """The mode that is applied. The way back rests on that alone, however the mode shows."""

    kind = ROCE_MODE
    feature = "roce"
    wide = True

    def state(self, port: str) -> Asking[p.Applied]:
        """`unknown` is the mode that the switch tells to be in operation, where it is another."""
        applied = yield from p.read_applied(self.feature, "")
        view = (yield from attempt(roce_view())) if applied.roce else None
        now = view.mode if isinstance(view, RoceView) else applied.roce
        return replace(applied, unknown=now if now != applied.roce else "")

    def wrong(self, wanted: RoceMode, found: RoceMode, before: p.Applied, after: p.Applied) -> str:
        """Another mode in operation is wrong, too."""
        if after.unknown:
            return f"is {after.unknown} in operation, and {found} as applied"
        return super().wrong(wanted, found, before, after)

    def value(self, applied: p.Applied, port: str) -> RoceMode:
        """As applied."""
        return applied.roce or "off"

    def _made(self, applied: p.Applied, port: str, wanted: RoceMode) -> p.Applied:
        if wanted == self.value(applied, port):
            return applied
        leaves = applied.profiles[""]
        lost = {path[0] for path in leaves} - {"enable", *(["mode"] if applied.roce else [])}
        if lost and "off" in (wanted, self.value(applied, port)):
            problem = f"its {', '.join(sorted(lost))} would be lost when it is put back"
            raise self.reject("qos roce", problem, "take that away by hand first (`nv unset`)")
        on: p.Leaves = {**leaves, ("enable",): "on", ("mode",): wanted}
        roce, told = ("", {}) if wanted == "off" else (wanted, on)
        return replace(applied, roce=roce, profiles={"": told})

    def _lines(self, port: str, before: p.Applied, after: p.Applied) -> Iterator[Shell]:
        if not after.roce and before.roce:
            yield p.nv("unset", "qos", "roce")
        if after.roce and not before.roce:
            yield p.nv("set", "qos", "roce", "enable", "on")
        if after.roce not in ("", before.roce):
            yield p.nv("set", "qos", "roce", "mode", after.roce)
