"""From a profile file to a Profile, or to the list of everything that is wrong with the file."""

from dataclasses import dataclass
from pathlib import Path

from labtests.core.errors import InventoryError
from labtests.inventory.document import read_file
from labtests.inventory.form import checked
from labtests.inventory.mistakes import Mistakes
from labtests.profile.form import ProfileFile
from labtests.profile.sense import Remark, remarks


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """An intended configuration. `warnings` are lines `file:line:column: path: what`."""

    file: Path
    form: ProfileFile
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As the file gives it."""
        return str(self.form.name)


def load(path: Path | str) -> Profile:
    """The profile that a file describes. Raises InventoryError with every mistake of the file."""
    file = Path(path)
    document = read_file(file)
    mistakes, form = document.mistakes, None
    if document.tree is not None or not mistakes.lines():
        form = checked(document.tree, ProfileFile, "a profile file", mistakes)
    found = [] if form is None else remarks(form)
    for remark in found:
        if remark.severity == "error":
            mistakes.add(remark.path, remark.problem)
    lines = mistakes.lines()
    if lines or form is None:
        raise InventoryError(lines)
    return Profile(file=file, form=form, warnings=_warnings(found, mistakes))


def _warnings(found: list[Remark], read_from: Mistakes) -> tuple[str, ...]:
    warnings = Mistakes(file=read_from.file, places=read_from.places)
    for remark in found:
        if remark.severity == "warning":
            warnings.add(remark.path, f"{remark.problem} ({remark.rule})")
    return warnings.lines()
