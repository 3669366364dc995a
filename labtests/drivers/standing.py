"""Objects of ours that a place refers to instead of somebody else's, which are never changed: each
has in its name that it is ours, the place, and what it stands for, so that any later process knows
the way back."""

OURS = "labtests-"


def own_name(place: str, base: str = "") -> str:
    """What stands for this, or for nothing, at a place."""
    return f"{OURS}{place}-{base}" if base else f"{OURS}{place}"


def is_own(name: str, place: str) -> bool:
    """Whether it was made for this place."""
    return name == own_name(place) or name.startswith(f"{own_name(place)}-")


def base_of(name: str, place: str) -> str:
    """What one of ours stands for, "" for nothing; anybody else's is itself."""
    return name.removeprefix(own_name(place)).removeprefix("-") if is_own(name, place) else name
