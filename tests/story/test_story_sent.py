"""What is planned, journalled and reported is what was sent, line by line, in every suite."""

import json
from collections import defaultdict

from labtests.transport.batching import Joined


def sent(run):
    """The commands that changed something, by device and in order: without what reads back, and
    without the way into a view and out of it again, by which `check` sees what a login may do."""
    found = defaultdict(list)
    for entry in run.journal:
        if entry["kind"] == "configure" and entry["commands"][1:] != ["quit"]:
            found[entry["device"]] += [c for c in entry["commands"] if Joined.of(c) is None]
    return found


def reported(run, *, of=lambda test: True):
    found = defaultdict(list)
    for test in filter(of, run.json["tests"]):
        for change in test["changes"]:
            found[change["device"]].append(change["command"])
    return found


def journalled(run):
    """The commands of the changes that were written ahead."""
    found = defaultdict(list)
    for line in (run.folder / "changes.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["kind"] == "change":
            found[entry["device"]] += entry["commands"]
    return found


def test_what_was_sent_is_what_the_report_shows_and_nothing_else(good):
    assert sent(good)
    assert reported(good) == sent(good)


def test_what_was_written_ahead_was_sent(good):
    for device, commands in journalled(good).items():
        rest = iter(sent(good)[device])
        assert all(command in rest for command in commands), device  # in this order


def test_a_plan_shows_what_the_run_sends(good, plan):
    ran = {test["id"] for test in good.json["tests"] if test["outcome"] == "pass"}
    assert ran

    def also_ran(test):
        return test["id"] in ran

    assert reported(plan, of=also_ran) == reported(good, of=also_ran)
