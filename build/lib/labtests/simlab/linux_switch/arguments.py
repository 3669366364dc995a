"""The words behind `tc`, taken one after the other, and how tc refuses them."""

from collections.abc import Sequence

from labtests.simlab.linux.options import Refused
from labtests.simlab.linux_switch.quantities import Id, read_class, read_handle


def kernel_says(text: str) -> Refused:
    """The kernel's own words (extack)."""
    return Refused(f"Error: {text}.\n", 2)


def kernel_error(text: str) -> Refused:
    """An error number without words."""
    return Refused(f"RTNETLINK answers: {text}\n", 2)


class Words:
    """What is still to be read."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)

    def __bool__(self) -> bool:
        return bool(self._words)

    def take(self) -> str:
        """The next word. Raises Refused at the end."""
        if not self._words:
            raise Refused('Command line is not complete. Try option "help"\n', 255)
        return self._words.pop(0)

    def number(self, kind: str, name: str) -> int:
        """A whole number for an option of a qdisc."""
        text = self.take()
        try:
            return int(text, 0)
        except ValueError:
            raise Refused(f'{kind}: Illegal value for "{name}": "{text}"\n', 1) from None

    def place(self) -> Id:
        """A parent: the name of a class, or of a qdisc."""
        text = self.take()
        found = read_class(text)
        if found is None:
            raise Refused(f'Error: argument "{text}" is wrong: invalid parent ID\n', 255)
        return found

    def handle(self) -> int:
        """The name of a qdisc."""
        text = self.take()
        found = read_handle(text)
        if found is None:
            raise Refused(f'Error: argument "{text}" is wrong: invalid qdisc ID\n', 255)
        return found
