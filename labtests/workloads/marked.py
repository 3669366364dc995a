"""Counted packets of given TOS bytes: exactly so many of each, from one host to an address.

By ping, one after the other. A host without ping may have perl (part of every Debian): the same
numbers of UDP datagrams to the discard port, where nobody answers.
"""

import re
from collections.abc import Iterator

from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.core.errors import WorkloadError
from labtests.core.output import lines_said
from labtests.transport.commands import Shell, in_turn, program
from labtests.transport.protocol import Reply
from labtests.workloads.attempt import Party

GAP_S = 0.002  # between two packets: the least that newer versions of ping let everybody ask for
NOT_FOUND = 127
_SUMMARY = re.compile(
    r"^(?P<sent>[0-9]{1,10}) packets transmitted, (?P<back>[0-9]{1,10}) (?:packets )?received",
    re.MULTILINE,
)
_COUNT = re.compile(r"[0-9]{1,10}")
_PERL = (
    "socket(my $s, PF_INET, SOCK_DGRAM, 17) or die $!; my $to = sockaddr_in(9, inet_aton(shift)); "
    "while (my ($tos, $n) = splice(@ARGV, 0, 2)) { "
    'setsockopt($s, 0, 1, pack("i", $tos)) or die $!; '  # IPPROTO_IP, IP_TOS
    'for (1..$n) { defined(send($s, "x" x 56, 0, $to)) or die $! } print "$n\\n" }'
)

Counts = tuple[tuple[int, int], ...]
"""(TOS byte, packets), in the order in which they are sent."""


def ping_command(address: str, counts: Counts) -> Shell:
    """One ping for each TOS byte."""
    options = ("-i", f"{GAP_S:g}", "-W", 2)
    return in_turn(
        *(
            program("ping", "-q", "-c", count, *options, "-Q", f"{tos:#04x}", address)
            for tos, count in counts
        )
    )


def perl_command(address: str, counts: Counts) -> Shell:
    """All of them in one program."""
    numbers = [number for pair in counts for number in pair]
    return program("perl", "-MSocket", "-e", _PERL, address, *numbers)


def send_marked(sender: Party, receiver: Party, counts: Counts) -> tuple[FlowResult, ...]:
    """One result for each TOS byte; `sent_datagrams` are packets. Only COMPLETE is evidence."""
    if not counts or any(not (0 <= tos <= 255 and count > 0) for tos, count in counts):
        raise WorkloadError(f"cannot send packets like this: {counts}")
    limit_s = 30.0 + sum(count for _, count in counts) * 10 * GAP_S
    command = ping_command(receiver.address, counts)
    reply = sender.transport.run(command, timeout_s=limit_s)
    told: list[tuple[int, int | None]] = [
        (int(m["sent"]), int(m["back"])) for m in _SUMMARY.finditer(reply.text)
    ]
    tool = "ping"
    if reply.status == NOT_FOUND:
        tool, command = "perl", perl_command(receiver.address, counts)
        reply = sender.transport.run(command, timeout_s=limit_s)
        told = [(int(line), None) for line in reply.text.split() if _COUNT.fullmatch(line)]
    return tuple(_results(sender, receiver, counts, reply, tool, told))


def _results(  # noqa: PLR0913 - one private step of send_marked
    sender: Party,
    receiver: Party,
    counts: Counts,
    reply: Reply,
    tool: str,
    told: list[tuple[int, int | None]],
) -> Iterator[FlowResult]:
    said = "; ".join(lines_said(reply.errors or reply.text)[-2:]) or "it said nothing"
    for number, (tos, count) in enumerate(counts):
        sent, back = told[number] if len(told) == len(counts) else (None, None)
        whole = sent == count and back in (None, count)
        yield FlowResult(
            sender=sender.name,
            receiver=receiver.name,
            tool=tool,
            tos=tos,
            status=FlowStatus.COMPLETE if whole else FlowStatus.FAILED,
            because="" if whole else f"{sent} of {count} sent, {back} answered: {said}",
            command=reply.command,
            sent_datagrams=sent,
            unsure_datagrams=0,
            extra_packets=0,
            received_datagrams=back,
        )
