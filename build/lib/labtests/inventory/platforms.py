"""Which platforms there are: the modules of labtests/drivers, found without importing them."""

from pathlib import Path

DRIVERS = Path(__file__).parent.parent / "drivers"


def known_platforms() -> frozenset[str]:
    """Names of the driver modules and packages.

    A driver says `SESSION` (how to talk to its devices); a module without it is a driver's part.
    """
    files = {path.stem: path for path in DRIVERS.glob("*.py")}
    files |= {path.parent.name: path for path in DRIVERS.glob("*/__init__.py")}
    return frozenset(
        name.replace("_", "-")
        for name, path in files.items()
        if not name.startswith("_") and "SESSION" in path.read_text(encoding="utf-8")
    )
