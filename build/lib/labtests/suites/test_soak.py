"""A soak: a load of hours (--soak 8h), the same in every minute of it."""

import pytest

from labtests.verdicts import no_loss, steady

DSCPS = 24, 40  # or others, where these have no queues of their own
BELOW, ABOVE = 0.3, 0.75  # of line rate, each of two classes


@pytest.mark.requires("queue_counters", "scheduling_for")
def test_hours_of_load_lose_nothing_in_any_minute(incast):
    """Soak: at 60 % of line rate for hours nothing is lost, and no minute is unlike the others."""
    incast.trust_dscp()
    incast.plain_queues()
    incast.serve_equally()
    classes = incast.classes(*DSCPS)
    below = incast.soak(*(each.offering(BELOW) for each in classes))
    incast.control(
        "150 % of line rate",
        incast.loads(*(each.offering(ABOVE) for each in classes)),
        red=lambda seen: (no_loss(seen, controls=(seen,)), steady(seen)),
        because=("dropped_packets grew by", "s of the load (minute"),
    )

    seen = incast.run("60 % of line rate, for hours", below)
    incast.judge(no_loss(seen, controls=incast.controls), steady(seen))
