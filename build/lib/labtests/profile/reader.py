"""From a profile file to a Profile, or to the list of everything that is wrong with the file."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from labtests.core.errors import InventoryError
from labtests.inventory.document import Document, Readable, read_file
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


def load(named: Readable | Path | str) -> Profile:
    """The profile that a file describes. Raises InventoryError with every mistake of the file,
    NotPrivate for one that its source does not believe."""
    source = Readable.of(named)
    file, document = source.path, read_file(source)
    mistakes, form, unknown = document.mistakes, None, frozenset[str]()
    if document.tree is not None or not mistakes.lines():
        form = checked(document.tree, ProfileFile, "a profile file", mistakes)
    if form is None:
        form, unknown = _rest(document)
    found = [] if form is None else remarks(form, unknown)
    for remark in found:
        if remark.severity == "error":
            mistakes.add(remark.path, remark.problem)
    lines = mistakes.lines()
    if lines or form is None:
        raise InventoryError(lines)
    return Profile(file=file, form=form, warnings=_warnings(found, mistakes))


def _rest(document: Document) -> tuple[ProfileFile | None, frozenset[str]]:
    """What can be judged of a file in which some keys are wrong, and these keys."""
    tree = document.tree
    if not isinstance(tree, dict):
        return None, frozenset()
    wrong = {key for key in tree if document.mistakes.wrong_below((key,))} | _not_fitting(tree)
    sound = {key: value for key, value in tree.items() if key not in wrong}
    return ProfileFile.model_validate({"name": "unnamed", **sound}), frozenset(wrong)


def _not_fitting(tree: dict[str, object]) -> set[str]:
    try:
        ProfileFile.model_validate(tree)
    except ValidationError as error:
        return {str(detail["loc"][0]) for detail in error.errors()}
    return set()


def _warnings(found: list[Remark], read_from: Mistakes) -> tuple[str, ...]:
    warnings = Mistakes(file=read_from.file, places=read_from.places)
    for remark in found:
        if remark.severity == "warning":
            warnings.add(remark.path, f"{remark.problem} ({remark.rule})")
    return warnings.lines()
