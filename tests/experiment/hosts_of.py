"""Senders by the speed of their links, for tests of what a lab can carry."""

from labtests.core.units import BitsPerSecond
from labtests.experiment import Role
from labtests.inventory import Endpoint


def roles(*gbit: float) -> tuple[Role, ...]:
    """h1, h2, ... on switch s."""
    return tuple(
        Role(
            nic=Endpoint(device=f"h{n}", interface="eth1"),
            switch=Endpoint(device="s", interface=f"p{n}"),
            link_bits_per_s=BitsPerSecond(round(speed * 1e9)),
            address=f"10.0.0.{n}",
        )
        for n, speed in enumerate(gbit, start=1)
    )


def names(senders: tuple[Role, ...]) -> list[str]:
    return [role.name for role in senders]
