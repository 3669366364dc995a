"""Where tables are drawn: the terminal, or a file."""

from rich.console import Console

WIDTH_OF_A_FILE = 160
"""Columns when the output is not a terminal, so that nothing is folded."""


def table_console() -> Console:
    """Of stdout."""
    console = Console()
    return console if console.is_terminal else Console(file=console.file, width=WIDTH_OF_A_FILE)
