"""Named objects that lines refer to, such as tables and policies: one that is in use stays."""

from typing import Any

from labtests.simlab import switch_cli as kit


def named(
    what: str, typed: str, *settings: kit.CliSetting, used: str, **more: Any
) -> kit.SectionKind:
    """`what` they are called, how one is `typed` (`WORDS <argument>`), and the line that `used` one
    has as the same argument. Sentences are ours."""
    words, argument = typed.removesuffix(">").split(" <")
    told: dict[str, Any] = {
        "header": f"{words} {{name}}",
        "typed": typed,
        "settings": settings,
        "missing": f"The {what} does not exist.",
        "kept": kit.kept_by("It is in use.", line=used, argument=argument),
    }
    return kit.SectionKind(**told | more)
