"""What perftest says when something is wrong, and what it says when nothing is.

Whatever it prints on stderr is a complaint, unless a rule here knows it as harmless: a new message
must never pass as silence. Sources: linux-rdma/perftest (texts), rdma-core verbs.h (status names).
"""

import re
from typing import Self

from labtests.core.output import lines_said
from labtests.workloads.attempt import Attempt

WC_STATUS = (
    "SUCCESS",
    "LOC_LEN_ERR",
    "LOC_QP_OP_ERR",
    "LOC_EEC_OP_ERR",
    "LOC_PROT_ERR",
    "WR_FLUSH_ERR",
    "MW_BIND_ERR",
    "BAD_RESP_ERR",
    "LOC_ACCESS_ERR",
    "REM_INV_REQ_ERR",
    "REM_ACCESS_ERR",
    "REM_OP_ERR",
    "RETRY_EXC_ERR",
    "RNR_RETRY_EXC_ERR",
    "LOC_RDD_VIOL_ERR",
    "REM_INV_RD_REQ_ERR",
    "REM_ABORT_ERR",
    "INV_EECN_ERR",
    "INV_EEC_STATE_ERR",
    "FATAL_ERR",
    "RESP_TIMEOUT_ERR",
    "GENERAL_ERR",
    "TM_ERR",
    "TM_RNDV_INCOMPLETE",
)
"""enum ibv_wc_status, by number (rdma-core libibverbs/verbs.h). 12 = no answer from the peer."""

_STATUS = re.compile(r"Failed status(?: (?P<old>\d+)|-(?P<text>.+?) \((?P<new>\d+)\))(?=:|$)")
"""Old ` Failed status 12: wr_id 0 ...`; since perftest PR 342 ` Failed status-TEXT (12): ...`."""

_HARMLESS = re.compile(
    r"""\s*$
    | .*\bwarning\b                      # libibverbs, BW peak, setlocale, lldpad, ld.so ...
    | \s*Conflicting\ CPU\ frequency\ values\ detected
    | \s*Using\ sampled\ CPU\ speed
    | \s*Correlation\ coefficient\ r\^2:\ \S+\ <   # no CPU clock: its rates are 0 (perftest.py)
    | \s*Device\ not\ recognized\ to\ implement\ inline\ feature
    | ERROR:\ ld\.so:\ object\ (?>.*?\ cannot\ be\ preloaded).*:\ ignored\.
    """,
    re.IGNORECASE | re.VERBOSE,
)

_COMPLAINT = re.compile(
    r"""Completion\ with\ error | Failed\ status | \b[sr]cnt=\d
    | couldn't | \bunable\b | \bfail(?:ed|ure|s)?\b | \berror\b | \bunexpected\b
    | \bcannot\b | \bcan't\b | not\ found | \binvalid\b | unrecognized | \bkilled\b | \babort
    | incompatib | not\ compatible | should\ be\ between | ADDR_ERROR | state\ is\ Down
    | Did\ not\ detect | RDMA_CM_EVENT_(?!ESTABLISHED) | ERRNO | segmentation | core\ dumped
    | \brefused\b | \bdenied\b | timed\ out | Parser\ function\ exited""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words of a complaint on stdout, where most lines are none."""

_NOT_CONNECTED = re.compile(
    r"Unexpected CM event|RDMA_CM_EVENT_(?:REJECTED|UNREACHABLE|CONNECT_ERROR)"
    r"|Couldn't connect to|Unable to connect \(retries",
)
"""Seen now and then although the server was listening (recorded with soft-RoCE): another try may
connect. They mean nothing about the fabric's losses."""


def complaints_on_stderr(text: str) -> tuple[str, ...]:
    """Every line of stderr that is not known to be harmless."""
    return tuple(_explained(line) for line in lines_said(text) if not _HARMLESS.match(line))


def complaints_on_stdout(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Those of these lines that speak of a failure (stderr may have been merged into stdout)."""
    return tuple(
        _explained(line) for line in lines if _COMPLAINT.search(line) and not _HARMLESS.match(line)
    )


class PerftestProgram:
    """What any of its programs is, and how its two ends show what they are at. None of them has a
    rate, or says when it will have ended."""

    __slots__ = ()
    of_rdma, offered_bits_per_s, ends_after_s = True, None, None

    def shares(self) -> tuple[Self, ...]:
        """See FlowTool."""
        return (self,)

    def is_ready(self, server_output: str) -> bool:
        """It printed its banner. (Then it listens: another try may be needed in between.)"""
        return "Waiting for client to connect" in server_output

    def is_running(self, client_output: str, server_output: str) -> bool:
        """The table's header is printed when the QPs are connected, right before the first post."""
        return "#bytes" in client_output

    def may_retry(self, attempt: Attempt) -> bool:
        """It never connected, in words that another try may not meet."""
        said = attempt.client.errors + attempt.client.text
        return attempt.running_s is None and never_connected(said)


def never_connected(words: str) -> bool:
    """These words say that no connection came about, for a reason that may pass."""
    return _NOT_CONNECTED.search(words) is not None


def _explained(line: str) -> str:
    """The line without margins, with the name of its completion status where it has a number."""
    match = _STATUS.search(line)
    if match is None:
        return line.strip()
    number = int(match["old"] or match["new"])
    name = WC_STATUS[number] if number < len(WC_STATUS) else "an unknown status"
    return f"{line.strip()} [{name}]"
