"""perftest's --out_json file, text -> records.

It does not say its unit, so the unit is found by the figures themselves: average = message rate x
message size in one of the two. Several builds wrote what is no JSON: keys and words without quotes
(linux-rdma/perftest#216, and `sl: 3` of raw QoS), a comma before a closing brace. With -a only the
last message size is left in the file.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from labtests.core.units import BitsPerSecond, gbit_per_second, mib_per_second
from labtests.drivers.parsing import refuse
from labtests.transport.protocol import Reply
from labtests.workloads.figures import is_figure
from labtests.workloads.perftest_report import Row

_BARE_KEY = re.compile(r"^([^\S\n]*+)([A-Za-z_][\w.]*+)(\s*+:)", re.MULTILINE)
_BARE_WORD = re.compile(
    r'^([^\S\n]*+"[^"\n]*"[^\S\n]*+:[^\S\n]*+)'
    r'([A-Za-z](?:[^",{}\[\]\n]*[^\s",{}\[\]])?)([^\S\n]*+,?[^\S\n]*+)$',
    re.MULTILINE,
)
_COMMA_BEFORE_END = re.compile(r",(\s*[}\]])")
_HALF = 0.0051
"""Half of the last digit of BW_average (two decimals), and a little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutJson:
    """One file: the test as it names itself, and its one row."""

    test: str
    qps: int
    row: Row


def parse_out_json(reply: Reply) -> OutJson:
    """The result in this file. A figure that is missing or cannot be is refused."""
    text = _BARE_WORD.sub(r'\1"\2"\3', _BARE_KEY.sub(r'\1"\2"\3', reply.text))
    text = _COMMA_BEFORE_END.sub(r"\1", text)
    try:
        document = json.loads(text, parse_constant=lambda word: _not_a_figure(reply, word))
    except (ValueError, RecursionError) as error:
        refuse(reply, f"no --out_json file, or one cut short: {error}", "give the whole file")
    info, results = _part(reply, document, "test_info"), _part(reply, document, "results")
    test = info.get("test")
    if not isinstance(test, str) or not test.endswith("_BW_Test"):
        refuse(reply, f"the file is of a {test!r}, not of a bandwidth test")
    return OutJson(
        test=test,
        qps=int(_number(reply, info, "Number_of_qps")),
        row=_row(reply, results),
    )


def _row(reply: Reply, results: Mapping[str, Any]) -> Row:
    size, iterations = (_number(reply, results, key) for key in ("MsgSize", "n_iterations"))
    average, peak = (_number(reply, results, key) for key in ("BW_average", "BW_peak"))
    rate = _number(reply, results, "MsgRate") * 1e6
    if size != int(size) or iterations != int(iterations):
        refuse(reply, f"MsgSize {size} and n_iterations {iterations} should be whole numbers")
    units = [
        unit
        for unit in (gbit_per_second, mib_per_second)
        if abs(unit(average) - rate * size * 8) <= unit(_HALF) + size * 4.1
    ]
    if not units or (len(units) > 1 and average):
        problem = f"{rate:g} messages/s of {size} bytes are {average} in no unit, or in either"
        refuse(reply, problem, "give the table that the tool printed")
    cpu, level = results.get("CPU_util"), results.get("sl")
    return Row(
        message_bytes=int(size),
        iterations=int(iterations),
        goodput_bits_per_s=BitsPerSecond(units[0](average)),
        peak_bits_per_s=BitsPerSecond(units[0](peak)) if peak else None,
        messages_per_s=rate,
        service_level=None if level is None else int(_number(reply, results, "sl")),
        cpu_percent=None if cpu is None else _number(reply, results, "CPU_util"),
    )


def _part(reply: Reply, document: object, key: str) -> Mapping[str, Any]:
    part = document.get(key) if isinstance(document, dict) else None
    if not isinstance(part, dict):
        refuse(reply, f"the file has no {key!r}", "give the whole file")
    return part


def _number(reply: Reply, holder: Mapping[str, Any], key: str) -> float:
    value = holder.get(key)
    if not is_figure(value):
        refuse(reply, f"{key!r} should be a number from 0 on, not {value!r}")
    return float(value)


def _not_a_figure(reply: Reply, word: str) -> NoReturn:
    refuse(reply, f"a figure is {word}")
