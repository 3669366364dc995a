"""The lab as a picture: senders left, switches in columns, receivers right with the senders beside
them, and on the links what one phase counted there. Pure geometry; the template draws it."""

from dataclasses import dataclass, field

from labtests.capabilities import counters as c
from labtests.report.marks import DrawnWords, broken_at, lost_between
from labtests.report.runs import Json, entries, lab_of, number
from labtests.report.series import hue_of
from labtests.report.suites import Spot, Suite
from labtests.report.text import grouped, short_port

HOST_W, HOST_H, ROW, LINE = 158.0, 44.0, 84.0, 18.0
SWITCH_W, GAP, SHORT_GAP, TOP, LETTER_W, BOLD_W = 216.0, 176.0, 72.0, 16.0, 8.0, 9.0
SENDERS_AT_MOST = 8
"""More are folded into one line below the picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnBox:
    """A device: a host, or a switch with what its egress queues dropped and marked."""

    name: str
    x: float
    y: float
    w: float
    h: float
    switch: bool
    culprit: bool
    lines: tuple[DrawnWords, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnCable:
    """A link from one device to another, with what went along it, and what was sent back. `port`
    is that of a switch."""

    left: str
    right: str
    x1: float
    y1: float
    x2: float
    y2: float
    above: tuple[DrawnWords, ...]
    below: tuple[DrawnWords, ...]
    upright: bool
    words_x: float
    words_y: float
    ends: bool  # the words end there
    port: str
    port_x: float
    port_y: float
    ringed: bool
    hues: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabPicture:
    """What is drawn, and one sentence that says all of it."""

    width: float
    height: float
    boxes: tuple[DrawnBox, ...]
    cables: tuple[DrawnCable, ...]
    left_out: int
    suite: Suite
    phase: str
    said: str


@dataclass(slots=True)
class _Counted:
    """What one phase counted, by device and port, then by priority or queue."""

    phase: Json
    sums: dict[tuple[str, str, str], dict[int | None, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row in entries(self.phase.get("counters")):
            grew, index = number(row.get("increase")), number(row.get("index"))
            if grew is None or row.get("unusable"):
                continue
            key = (str(row.get("device")), str(row.get("port")), str(row.get("counter")))
            self.sums.setdefault(key, {})[None if index is None else int(index)] = int(grew)

    def of(self, place: Spot, counter: str) -> dict[int | None, int]:
        """What grew, by priority or queue."""
        found = self.sums.get((place.device, place.port, counter), {})
        return {index: grew for index, grew in found.items() if grew}

    def rates(self, device: str) -> list[tuple[int | None, object]]:
        """Priority and goodput of each flow that a host sends."""
        return [
            (hue_of(flow), flow.get("goodput_bits_per_s"))
            for flow in entries(self.phase.get("flows"))
            if flow.get("sender") == device
        ]


def picture_of(run: Json, suites: list[Suite]) -> LabPicture | None:
    """Of the reddest suite's phase, else of the one in which most was paused and marked. None when
    the run does not say how the lab is cabled."""
    lab = lab_of(run)
    links = [ends for link in entries(lab.get("links")) if len(ends := _ends(link)) == 2]
    shown = _shown(suites)
    if not links or shown is None:
        return None
    suite, phase = shown
    return _Layout(lab, links, suite, _Counted(phase)).picture()


def _ends(link: Json) -> list[Spot]:
    return [
        Spot(device=str(end.get("device")), port=str(end.get("port")))
        for end in entries(link.get("ends"))
        if end.get("device") and end.get("port")
    ]


def _shown(suites: list[Suite]) -> tuple[Suite, Json] | None:
    """Of the first red suite whose verdicts name a phase, else of the stirred one."""
    for suite in suites:
        if suite.red and (found := _red_phases(suite)):
            return suite, max(found, key=_telling_most)
    calm = [
        (suite, phase)
        for suite in suites
        if not suite.red
        for phase in entries(suite.test.get("phases"))
        if phase.get("kind") == "experiment"
    ]
    return max(calm, key=lambda one: _stirred_most(one[1]), default=None)


def _red_phases(suite: Suite) -> list[Json]:
    asked = [v for v in entries(suite.test.get("verdicts")) if v.get("role") != "control"]
    names = {v.get("phase") for v in asked if v.get("outcome") != "pass"}
    return [p for p in entries(suite.test.get("phases")) if p.get("name") in names]


def _telling_most(phase: Json) -> tuple[bool, int, int]:
    """A control drops on purpose: what it lost is nothing to look at while there is another."""
    lost = min(_sum(phase, (c.QUEUE_DROPPED_PACKETS,)), 1)
    return phase.get("kind") != "control", lost, _classes(phase)


def _stirred_most(phase: Json) -> tuple[int, int, int]:
    """Some suites drop on purpose: they are not the picture of a run in which nothing was lost."""
    lost = min(_sum(phase, (c.QUEUE_DROPPED_PACKETS,)), 1)
    return -lost, _classes(phase), _sum(phase, (c.PFC_TX_FRAMES, c.ECN_MARKED_PACKETS))


def _classes(phase: Json) -> int:
    return min(len({hue_of(flow) for flow in entries(phase.get("flows"))}), 2)


def _sum(phase: Json, names: tuple[str, ...]) -> int:
    rows = [row for row in entries(phase.get("counters")) if row.get("counter") in names]
    return sum(int(number(row.get("increase")) or 0) for row in rows)


def _along(text: str, to_right: bool) -> str:
    return f"{text} \u2192" if to_right else f"\u2190 {text}"


class _Layout:
    """Where everything stands."""

    def __init__(self, lab: Json, links: list[list[Spot]], suite: Suite, counted: _Counted) -> None:
        self._links, self._suite, self._counted = links, suite, counted
        roles = {str(d.get("name")): d.get("roles") or [] for d in entries(lab.get("devices"))}
        self._receivers = [name for name, has in roles.items() if "receiver" in has]
        degree: dict[str, int] = {}
        for end in (end for link in links for end in link):
            degree[end.device] = degree.get(end.device, 0) + 1
        flowing = {name for name, has in roles.items() if has}
        self._switches = [n for n in degree if n not in flowing and degree[n] > 1]
        hosts = [n for n in degree if n not in self._switches]
        senders = [n for n in hosts if n not in self._receivers]
        self._left_out = max(len(senders) - SENDERS_AT_MOST, 0)
        self._senders = senders[:SENDERS_AT_MOST]
        self._boxes: dict[str, DrawnBox] = {}
        self._broken = broken_at(suite, counted.phase, [end for link in links for end in link])
        self._host_w = max(HOST_W, *map(self._room, hosts)) if hosts else HOST_W
        self._switch_w = max(SWITCH_W, *map(self._room, self._switches), SWITCH_W)

        lost = [w for a, b in links for w in lost_between(suite, counted.phase, (a, b))]
        named = max((len(short_port(end.port)) for link in links for end in link
                     if end.device in self._switches), default=0)  # fmt: skip
        self._first_gap = max(GAP, 124.0 + LETTER_W * named)
        self._gap = max([SHORT_GAP, 20.0 + LETTER_W * named]
                        + [24 + BOLD_W * len(words.text) for words in lost])  # fmt: skip

    def _room(self, device: str) -> float:
        """What its longest fact takes."""
        return max((24 + (BOLD_W if words.bad else LETTER_W) * len(words.text)
                    for words in self._lines(device)), default=0.0)  # fmt: skip

    def picture(self) -> LabPicture:
        """All of it."""
        columns = self._columns()
        left, right = self._sides(columns)
        columns = [self._with_hosts(names, left) for names in columns[:-1]] + columns[-1:]
        rows = max(len(left), len(right), *map(len, columns), 1)
        told = max((len(self._lines(name)) for name in self._switches), default=0)
        lines = max((len(self._lines(name)) for name in left + right), default=0)
        height = max(rows * max(ROW, HOST_H + LINE * lines + 12), 60.0 + LINE * told)
        self._column(left, 8, height)
        x = 8 + self._host_w + self._first_gap
        for names in columns:
            self._column(names, x, height)
            x += self._switch_w + self._gap
        if any(self._counted.rates(name) for name in right):
            x += self._first_gap - self._gap
        self._column(right, x, height)
        cables = tuple(cable for link in self._links if (cable := self._cable(link)))
        return LabPicture(
            width=x + self._host_w + 12,
            height=height + TOP * 2,
            boxes=tuple(self._boxes.values()),
            cables=cables,
            left_out=self._left_out,
            suite=self._suite,
            phase=str(self._counted.phase.get("name") or ""),
            said=self._said(cables),
        )

    def _sides(self, columns: list[list[str]]) -> tuple[list[str], list[str]]:
        """Hosts left and right of the switches: no cable goes behind one that it is not in."""
        near = set(columns[-1]) if len(columns) > 1 else set()
        beside = [n for n in self._senders if {p.device for p in self._peers(n)} & near]
        far = [n for n in self._senders if n not in beside]
        return (far, self._receivers + beside) if far else (beside, self._receivers)

    def _with_hosts(self, switches: list[str], left: list[str]) -> list[str]:
        """Of a column that no host at the left is next to: one above, and one below. They are no
        longer at the left."""
        if switches == self._columns()[0]:
            return switches
        ends = ((switches[0], 0), (switches[-1], len(switches) + 1))
        found = list(switches)
        for switch, place in ends:
            own = [n for n in left if switch in {p.device for p in self._peers(n)}]
            if own and len(left) > 1:
                found.insert(place, own[0])
                left.remove(own[0])
        return found

    def _columns(self) -> list[list[str]]:
        """Switches by how far they are from the receivers, the farthest first."""
        far = dict.fromkeys(self._receivers, 0)
        edge = list(self._receivers)
        while edge:
            reached = [peer.device for name in edge for peer in self._peers(name)]
            edge = [n for n in dict.fromkeys(reached) if n in self._switches and n not in far]
            depth = max(far.values()) + 1
            far |= dict.fromkeys(edge, depth)
        for name in self._switches:
            far.setdefault(name, 1)
        depths = sorted({far[name] for name in self._switches}, reverse=True)
        return [[n for n in self._switches if far[n] == depth] for depth in depths] or [[]]

    def _peers(self, device: str) -> list[Spot]:
        return [there for _, there in self._ways(device)]

    def _column(self, names: list[str], x: float, height: float) -> None:
        """Boxes under one another; a switch is as high as its share of the picture."""
        for n, name in enumerate(names):
            share = height / len(names)
            switch = name in self._switches
            lines = self._lines(name)
            h = max(share - 14, 40.0 + LINE * len(lines)) if switch else HOST_H + LINE * len(lines)
            y = TOP + share * (n + 0.5) - h / 2
            place = self._suite.place
            self._boxes[name] = DrawnBox(
                name=name,
                x=x,
                y=y,
                w=self._switch_w if switch else self._host_w,
                h=h,
                switch=switch,
                culprit=bool(place and place.device == name and (not place.port or not switch)),
                lines=lines,
            )

    def _lines(self, name: str) -> tuple[DrawnWords, ...]:
        own = self._egress(name) if name in self._switches else self._at_host(name)
        return own + self._broken.get(name, ())

    def _egress(self, switch: str) -> tuple[DrawnWords, ...]:
        """Of each queue that packets left from: what it dropped; and what was marked."""
        found: list[DrawnWords] = []
        for here, there in self._ways(switch):
            if there.device not in self._receivers:
                continue
            dropped = self._counted.of(here, c.QUEUE_DROPPED_PACKETS)
            sent = self._counted.of(here, c.QUEUE_FORWARDED_PACKETS)
            queues = sorted({q for q in (*sent, *dropped) if q is not None})
            for queue in queues[:8]:
                count = dropped.get(queue, 0)
                sign = "\u2715 " if count else ""
                said = f"queue {queue}: {sign}{grouped(count)} dropped"
                found.append(DrawnWords(text=said, hue=queue, bad=bool(count) and self._suite.red))
            if marked := sum(self._counted.of(here, c.ECN_MARKED_PACKETS).values()):
                found.append(DrawnWords(text=f"{grouped(marked)} marked"))
        return tuple(found)

    def _at_host(self, host: str) -> tuple[DrawnWords, ...]:
        sent = sum(
            sum(self._counted.of(here, c.NP_CNP_SENT).values()) for here, _ in self._ways(host)
        )
        return (DrawnWords(text=f"{grouped(sent)} CNPs sent"),) if sent else ()

    def _ways(self, device: str) -> list[tuple[Spot, Spot]]:
        both = [(a, b) for a, b in self._links] + [(b, a) for a, b in self._links]
        return [(here, there) for here, there in both if here.device == device]

    def _cable(self, link: list[Spot]) -> DrawnCable | None:
        """From left to right. A host's cable says what it sent, and what came back."""
        if any(end.device not in self._boxes for end in link):
            return None
        a, b = sorted(link, key=lambda end: self._boxes[end.device].x)
        left, right = self._boxes[a.device], self._boxes[b.device]
        y1, y2 = self._height(a, b), self._height(b, a)
        x1, x2 = left.x + left.w, right.x
        if left.x == right.x:  # two switches of one column
            x1 = x2 = left.x + min(left.w, right.w) / 2
            upper, lower = sorted((left, right), key=lambda box: box.y)
            y1, y2 = upper.y + upper.h, lower.y
        sender = not left.switch
        at_switch, host = (b, a) if sender else (a, b)
        rates = self._counted.rates(host.device) if sender or not right.switch else []
        port_x = x2 - 5 if at_switch is b else x1 + 5
        place = self._suite.place
        lost = lost_between(self._suite, self._counted.phase, (a, b))
        above = self._sent(rates, sender)
        below = [*(self._returned(host, at_switch, sender) if rates or sender else ()), *lost]
        upright = left.x == right.x
        if upright and len(above) + len(below) > 1:  # there is room for one line
            text = ", ".join(words.text for words in (*above, *below))
            above, below = [DrawnWords(text=text, bad=bool(lost))], []
        return DrawnCable(
            left=left.name,
            right=right.name,
            x1=x1,
            y1=y1,
            x2=x2,
            y2=y2,
            above=tuple(above),
            below=tuple(below),
            upright=upright,
            words_x=x1 + 8 if sender or right.switch or upright else x2 - 8,
            words_y=(y1 + y2) / 2 + 14 if upright else y1 if sender or right.switch else y2,
            ends=not sender and not right.switch and not upright,
            port=short_port(at_switch.port),
            port_x=port_x,
            port_y=(y2 if at_switch is b else y1) - 6,
            ringed=bool(place and place.port and place in (a, b) and self._suite.red),
            hues=self._hues(a, b, rates),
        )

    def _hues(self, a: Spot, b: Spot, rates: list[tuple[int | None, object]]) -> tuple[int, ...]:
        if rates:
            return tuple(sorted({hue for hue, _ in rates if hue is not None}))[:3]
        sent = self._counted.of(a, c.QUEUE_FORWARDED_PACKETS) or self._counted.of(
            b, c.QUEUE_FORWARDED_PACKETS
        )
        return tuple(sorted(queue for queue in sent if queue is not None and queue < 8))[:3]

    def _height(self, here: Spot, there: Spot) -> float:
        """On its box's edge, in line with the other end where that is possible."""
        box, other = self._boxes[here.device], self._boxes[there.device]
        if not box.switch:
            return box.y + HOST_H / 2
        wish = other.y + (HOST_H / 2 if not other.switch else other.h / 2)
        return min(max(wish, box.y + 14), box.y + box.h - 14)

    def _sent(self, rates: list[tuple[int | None, object]], to_right: bool) -> list[DrawnWords]:
        by_hue: dict[int | None, float] = {}
        for hue, rate in rates:
            known = number(rate)
            if known is not None:
                by_hue[hue] = by_hue.get(hue, 0.0) + known
        return [
            DrawnWords(
                text=_along(f"{'' if hue is None else f'p{hue} '}{rate / 1e9:.3g} Gb/s", to_right),
                hue=hue,
            )
            for hue, rate in sorted(by_hue.items(), key=lambda pair: -pair[1])[:2]
        ]

    def _returned(self, host: Spot, switch: Spot, to_left: bool) -> list[DrawnWords]:
        pauses = sum(self._counted.of(switch, c.PFC_TX_FRAMES).values())
        cnps = sum(self._counted.of(host, c.RP_CNP_HANDLED).values())
        counts = ((pauses, "pauses"), (cnps, "CNPs"))
        said = (f"{grouped(count)} {what}" for count, what in counts if count)
        return [DrawnWords(text=_along(text, not to_left)) for text in said]

    def _said(self, cables: tuple[DrawnCable, ...]) -> str:
        """For those who do not see it."""
        boxes = [
            f"{box.name}{' (where to look)' if box.culprit else ''}: "
            + (", ".join(words.text for words in box.lines) or "no loss counted")
            for box in self._boxes.values()
            if box.lines or box.culprit
        ]
        ways = [
            f"port {cable.port}: {', '.join(w.text for w in (*cable.above, *cable.below))}"
            for cable in cables
            if cable.above or cable.below
        ]
        return f"{self._suite.name}, {'; '.join([*ways, *boxes])}"
