"""What a test leaves in run.json: plain JSON values, documented in docs/run-json.md."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from labtests.capabilities.readings import Reading
from labtests.experiment.incast import Incast
from labtests.experiment.judging import Judged
from labtests.experiment.phase import PhaseRecord
from labtests.journal.values import readable
from labtests.lab.changes import Change
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import Station, bursts, headrooms, stations

Json = dict[str, Any]


def of_incast(incast: Incast) -> Json:
    """The verdicts and phases of one test."""
    return {
        "verdicts": [_verdict(judged) for judged in incast.judged],
        "phases": [_phase(record) for record in incast.phases],
    }


def of_changes(changes: Iterable[Change]) -> list[Json]:
    """What was sent to change settings, one entry a command, in order."""
    return [
        {
            "time_s": change.time_s,
            "device": change.device,
            "command": command,
            "status": None,
            "text": f"{'put back: ' if change.undo else ''}{change.setting} of {change.port}",
        }
        for change in changes
        for command in change.commands
    ]


def _verdict(judged: Judged) -> Json:
    verdict = judged.verdict
    return {
        "question": verdict.question,
        "outcome": verdict.outcome.value,
        "because": verdict.because,
        "phase": verdict.phase,
        "role": "control" if judged.control else "main",
        "expected": judged.expected.value,
        "as_expected": judged.as_expected,
        "backend": verdict.backend,
        "facts": [asdict(fact) for fact in verdict.facts],
        "disagreements": list(verdict.disagreements),
    }


def _phase(record: PhaseRecord) -> Json:
    evidence = record.evidence
    return {
        "name": evidence.name,
        "kind": evidence.kind,
        "start_s": evidence.start_s,
        "end_s": evidence.end_s,
        "settled": evidence.settled,
        "restless": evidence.restless,
        "refresh_s": evidence.refresh.seconds,
        "changed_by_others": list(evidence.changed),
        "unreachable": list(evidence.unreachable),
        "flows": [asdict(flow) for flow in evidence.flows],
        "probes": [asdict(probe) for probe in evidence.probes],
        "noise": [
            {**_counter(noise.difference), "when": noise.when, "seconds": noise.seconds}
            for noise in evidence.disturbances
        ],
        "way": [_station(station) for station in stations(evidence)],
        "counters": _counters(evidence),
        "samples": [_sample(reading) for reading in evidence.samples],
        "watermarks": [
            {**_sample(reading), "missing": reading.missing} for reading in _peaks(evidence)
        ],
        **_streamed(evidence),
        **({"exact_state": [dict(row) for row in record.exact]} if record.exact else {}),
        "settings": [
            {
                "device": seen.at.device,
                "port": seen.at.interface,
                "ability": seen.setting,
                "value": readable(seen.value),
            }
            for seen in record.settings
        ],
    }


def _streamed(evidence: Evidence) -> Json:
    """What switches sent of themselves; nothing where none was asked to."""
    streamed = evidence.streamed
    if streamed is None:
        return {}
    return {
        "streamed": [sample._asdict() for sample in streamed.samples],
        "alarms": [alarm._asdict() for alarm in streamed.alarms],
        "stream_troubles": [asdict(trouble) for trouble in streamed.troubles],
        "headroom": [
            {**asdict(each), "margin_bytes": each.margin_bytes} for each in headrooms(evidence)
        ],
        "microbursts": [{**asdict(each), "flows": list(each.flows)} for each in bursts(evidence)],
    }


def _peaks(evidence: Evidence) -> list[Reading]:
    """The most that was held in this phase."""
    of_phase = (
        evidence.peak((r.device, r.port), r.scope, -1 if r.index is None else r.index, r.counter)
        for r in evidence.peaks[1]
    )
    return [reading for reading in of_phase if reading is not None]


def _station(station: Station) -> Json:
    return {
        "name": station.name,
        "part": station.part,
        "lost": {_short(d): d.increase for d in station.lost},
        "counted": sorted({d.key[-1] for d in station.losses if d.increase is not None}),
        "unusable": {d.key[-1]: d.unusable for d in station.losses if d.increase is None},
        "not_available": list(station.absent),
    }


def _short(difference: Difference) -> str:
    """A counter at a station: its device, and the priority where it has one."""
    device, _, _, index, counter = difference.key
    return f"{device} {counter}" if index < 0 else f"{device} priority {index} {counter}"


def _counters(evidence: Evidence) -> list[Json]:
    return [_counter(difference) for difference in evidence.changes.values()]


def _counter(difference: Difference) -> Json:
    device, port, scope, index, counter = difference.key
    known = difference.after or difference.before
    return {
        "device": device,
        "port": port,
        "scope": scope,
        "index": None if index < 0 else index,
        "counter": counter,
        "unit": known.unit if known else "",
        "before": difference.before.value if difference.before else None,
        "after": difference.after.value if difference.after else None,
        "increase": difference.increase,
        "unusable": difference.unusable,
        "source": known.source if known else "",
    }


def _sample(reading: Reading) -> Json:
    return {
        "device": reading.device,
        "port": reading.port,
        "scope": reading.scope,
        "index": reading.index,
        "counter": reading.counter,
        "unit": reading.unit,
        "time_s": reading.time_s,
        "value": reading.value,
    }
