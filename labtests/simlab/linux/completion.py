"""What Tab offers an interactive shell: commands at the start of one, file names behind it."""

import re

from labtests.simlab.linux.shell import Shell


def candidates(shell: Shell, before: str) -> tuple[str, list[str]]:
    """The word begun before the cursor, and all that it may become; folders end with `/`."""
    match = re.search(r"[^\s|;&<>=(]*$", before)
    begun = match[0] if match else ""
    start = before[: len(before) - len(begun)].rstrip()
    if "/" not in begun and (not start or start[-1] in "|;&("):
        known = {*shell.host.builtins, *shell.host.tools()}
        return begun, sorted(name for name in known if name.startswith(begun))
    folder, slash, name = begun.rpartition("/")
    path = shell.tree.resolve(folder + slash, shell.directory)
    if not shell.tree.is_folder(path):
        return begun, []
    entries = [entry for entry in shell.tree.entries(path) if entry.startswith(name)]
    marks = ["/" * shell.tree.is_folder(f"{path.rstrip('/')}/{entry}") for entry in entries]
    found = [f"{folder}{slash}{entry}{mark}" for entry, mark in zip(entries, marks, strict=True)]
    interfaces = [port.interface for port in shell.host.ports if not slash]
    return begun, found + [each for each in interfaces if begun and each.startswith(begun)]
