"""What can be set on a Comware switch: PFC, trust, ECN marking, scheduling, the DSCP map.

Each `set_...` reads, sends only what has to change, hears refusals and reads back.
"""

from collections.abc import Set as AbstractSet

from labtests.capabilities.device import (
    Commands,
    DscpMap,
    EcnMarking,
    PriorityFlowControl,
    Resuming,
    Scheduling,
    Trust,
)
from labtests.capabilities.records import (
    EcnSetting,
    PfcSetting,
    SchedulingSetting,
    TrustSetting,
)
from labtests.core.errors import CommandRejected
from labtests.drivers.comware import commands as lines
from labtests.drivers.comware.configuration import (
    DEFAULT_TABLE,
    applied_wred_table,
    configured_pfc,
)
from labtests.drivers.comware.maps import parse_map_table
from labtests.drivers.comware.names import wrong_port
from labtests.drivers.comware.pfc import parse_priority_flow_control
from labtests.drivers.comware.rejections import is_refusal
from labtests.drivers.comware.scheduling import parse_queue_schedule, shows_no_scheduler
from labtests.drivers.comware.session import Cli
from labtests.drivers.comware.trust import parse_qos_trust
from labtests.drivers.comware.wred import (
    parse_qos_wred_interface,
    parse_qos_wred_table,
    shows_wred_table,
)
from labtests.drivers.parsing import refuse
from labtests.transport.protocol import Transport

_DSCP_MAP = ("display", "qos", "map-table", "dscp-dot1p")
_WRED_TABLE = ("display", "qos", "wred", "table", "name")


class Settings(PriorityFlowControl, Trust, EcnMarking, Scheduling, DscpMap, Resuming):
    """The settings of one switch. `port` may be written in full or abbreviated."""

    def __init__(self, transport: Transport) -> None:
        self.cli = Cli(transport)
        self._begun: set[str] = set()  # tables of ours that this session began to make, or left

    def resume(self, setting: str, values: tuple[object, ...]) -> None:
        """See Resuming: only ECN leaves something, a table of ours that no port applies."""
        del setting
        tables = (value.profile for value in values if isinstance(value, EcnSetting))
        self._begun |= {table for table in tables if table and lines.is_ours(table)}

    # -- PFC -------------------------------------------------------------------------------------

    def pfc(self, port: str) -> PfcSetting:
        """As configured on the port, which is exact even while no PFC frame was counted. Refused
        when `display priority-flow-control` contradicts it: then the system view says otherwise."""
        full = self.cli.port(port)
        reply, section = self.cli.interface(full)
        configured = configured_pfc(reply, section)
        shown = self.cli.show("display", "priority-flow-control", "interface", full)
        for row in parse_priority_flow_control(shown):
            if row.interface != full:
                wrong_port(shown, full, row.interface)
            if row.mode != configured.mode:
                refuse(
                    shown,
                    f"PFC of {full} is {row.mode}, its configuration says {configured.mode}",
                    "take `priority-flow-control` out of the system view: it is set per port here",
                )
        return configured

    def pfc_commands(self, port: str, earlier: PfcSetting, wanted: PfcSetting) -> Commands:
        """In interface view: the no-drop list, then the mode."""
        return lines.pfc_commands(self.cli.port(port), earlier, wanted)

    def set_pfc(self, port: str, wanted: PfcSetting) -> None:
        """Apply it, and verify by read-back."""
        self.cli.configure(self.pfc_commands(port, self.pfc(port), wanted))
        read = self.pfc(port)
        self.cli.expect_read_back(f"PFC of {port}", read, wanted, same=read == wanted)

    # -- trust -----------------------------------------------------------------------------------

    def trust(self, port: str) -> TrustSetting:
        """What the port trusts now, defaults included."""
        full = self.cli.port(port)
        reply = self.cli.show("display", "qos", "trust", "interface", full)
        found = parse_qos_trust(reply)
        if set(found) != {full}:
            wrong_port(reply, full, ", ".join(found))
        return found[full]

    def trust_commands(self, port: str, earlier: TrustSetting, wanted: TrustSetting) -> Commands:
        """In interface view: one line."""
        return lines.trust_commands(self.cli.port(port), earlier, wanted)

    def set_trust(self, port: str, wanted: TrustSetting) -> None:
        """Apply it, and verify by read-back."""
        self.cli.configure(self.trust_commands(port, self.trust(port), wanted))
        read = self.trust(port)
        self.cli.expect_read_back(f"trust of {port}", read, wanted, same=read == wanted)

    # -- ECN -------------------------------------------------------------------------------------

    def ecn(self, port: str) -> EcnSetting:
        """The WRED table this port applies and its queues: as configured, and as displayed."""
        full = self.cli.port(port)
        reply, section = self.cli.interface(full)
        table = applied_wred_table(reply, section)
        if table is None:
            return EcnSetting()
        shown = self.cli.show("display", "qos", "wred", "interface", full)
        applied = parse_qos_wred_interface(shown)
        if set(applied) != {full}:
            wrong_port(shown, full, ", ".join(applied))
        if table not in (DEFAULT_TABLE, applied[full]):
            refuse(shown, f"{full} is configured with {table!r} and applies {applied[full]!r}")
        return self._table(table, applied[full])

    def _table(self, configured: str, name: str) -> EcnSetting:
        reply = self.cli.show(*_WRED_TABLE, name)
        tables = parse_qos_wred_table(reply)
        if [t.name for t in tables] != [name]:
            refuse(reply, f"asked for table {name!r}, not for {[t.name for t in tables]}")
        return EcnSetting(profile=configured, queues=tables[0].queues)

    def ecn_on(self, queues: AbstractSet[int]) -> EcnSetting:
        """Our table for these queues, named after them: ports that mark alike share one table.

        The curve is the documented default of Comware: from 100 to 1000, up to 10 %, exponent 9.
        The other queues keep the curve that the model gives a new table: WRED drops in them too.
        """
        named = "".join(str(queue) for queue in sorted(queues))
        return EcnSetting(
            profile=f"{lines.OURS}-ecn-{named or 'none'}",
            queues=tuple(lines.default_curve(q, ecn=q in queues) for q in lines.QUEUES),
        )

    def ecn_commands(self, port: str, earlier: EcnSetting, wanted: EcnSetting) -> Commands:
        """Our table, its application, and the removal of the one before if it was ours (sent only
        when no other port applies it)."""
        return lines.ecn_commands(self.cli.port(port), earlier, wanted)

    def set_ecn(self, port: str, wanted: EcnSetting) -> None:
        """Apply it, and verify by read-back. Tables of other people are applied, never changed."""
        earlier = self.ecn(port)
        self._expect_not_shared(port, wanted)
        self._begun |= {t for t in (earlier.profile, wanted.profile) if t and lines.is_ours(t)}
        removal = lines.removal(earlier, wanted)
        sent = self.ecn_commands(port, earlier, wanted)
        self.cli.configure(sent[: len(sent) - len(removal)])
        read = self.ecn(port)
        same = lines.is_as_wanted(read, wanted)
        self.cli.expect_read_back(f"WRED and ECN of {port}", read, wanted, same=same)
        for table in sorted(self._begun - {wanted.profile}):
            self._remove_unused(table, known=table == earlier.profile)

    def _remove_unused(self, table: str, *, known: bool) -> None:
        """A table of ours goes when no port applies it; also one whose making was interrupted."""
        if known or shows_wred_table(self.cli.ask(*_WRED_TABLE, table), table):
            if self._ports_applying(table):
                return
            self.cli.configure((lines.undo_table(table),))
        self._begun.discard(table)

    def _expect_not_shared(self, port: str, wanted: EcnSetting) -> None:
        """A table of ours that another port applies may not be changed under it."""
        if wanted.profile is None or not lines.is_ours(wanted.profile):
            return
        others = self._ports_applying(wanted.profile) - {self.cli.port(port)}
        if others and not lines.is_as_wanted(self._table(wanted.profile, wanted.profile), wanted):
            raise CommandRejected(
                self.cli.device,
                f"qos wred queue table {wanted.profile}",
                f"{', '.join(sorted(others))} applies this table with other values",
                f"give the setting of {port} another profile name that starts with {lines.OURS}",
            )

    def _ports_applying(self, table: str | None) -> set[str]:
        reply, sections = self.cli.interfaces()
        return {
            section.interface
            for section in sections
            if section.interface and applied_wred_table(reply, section) == table
        }

    # -- scheduling --------------------------------------------------------------------------------

    def scheduling(self, port: str) -> SchedulingSetting:
        """Asked by discipline: WRR, strict priority, WFQ. The first that answers is in force."""
        full = self.cli.port(port)
        for discipline in ("wrr", "sp", "wfq"):
            reply = self.cli.ask("display", "qos", "queue", discipline, "interface", full)
            if is_refusal(reply) or shows_no_scheduler(reply):
                continue
            found = parse_queue_schedule(reply)
            if set(found) != {full}:
                wrong_port(reply, full, ", ".join(found))
            return found[full]
        raise CommandRejected(
            self.cli.device,
            f"display qos queue wrr|sp|wfq interface {full}",
            "the switch shows no scheduler for this port",
            "a queue scheduling profile (`qos apply qmprofile`) may be in force: take it off",
        )

    def scheduling_commands(
        self, port: str, earlier: SchedulingSetting, wanted: SchedulingSetting
    ) -> Commands:
        """In interface view. WFQ is read but not set: its minimum bandwidths would be lost."""
        full = self.cli.port(port)
        if earlier != wanted and {earlier.discipline, wanted.discipline} - {"sp", "wrr"}:
            raise CommandRejected(
                self.cli.device,
                f"interface {full}",
                f"labtests does not change {earlier.discipline} to {wanted.discipline}",
                "set the port to `qos wrr` or `qos sp` by hand first",
            )
        return lines.scheduling_commands(full, earlier, wanted)

    def set_scheduling(self, port: str, wanted: SchedulingSetting) -> None:
        """Apply it, and verify by read-back."""
        self.cli.configure(self.scheduling_commands(port, self.scheduling(port), wanted))
        read = self.scheduling(port)
        self.cli.expect_read_back(f"scheduling of {port}", read, wanted, same=read == wanted)

    # -- DSCP map ----------------------------------------------------------------------------------

    def dscp_map(self, port: str) -> tuple[int, ...]:
        """The 802.1p priority of each DSCP. One map for the whole switch; `port` is not used."""
        reply = self.cli.show(*_DSCP_MAP)
        maps = [m for m in parse_map_table(reply) if not m.direction and not m.color]
        if [m.name for m in maps] != ["dscp-dot1p"]:
            refuse(reply, "there is no map dscp-dot1p without direction")
        if max(maps[0].values) not in lines.QUEUES:
            refuse(reply, "a DSCP maps to a priority above 7")
        return maps[0].values

    def dscp_map_commands(
        self, port: str, earlier: tuple[int, ...], wanted: tuple[int, ...]
    ) -> Commands:
        """In the map's view: one line for each DSCP that changes."""
        return lines.map_commands("dscp-dot1p", earlier, wanted)

    def set_dscp_map(self, port: str, wanted: tuple[int, ...]) -> None:
        """Apply it, and verify by read-back."""
        self.cli.configure(self.dscp_map_commands(port, self.dscp_map(port), wanted))
        read = self.dscp_map(port)
        self.cli.expect_read_back("the map dscp-dot1p", read, wanted, same=read == wanted)
