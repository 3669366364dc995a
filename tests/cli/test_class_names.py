"""A class name stands for one class in all of labtests."""

import ast
from collections import defaultdict

from parsed import CODE, trees


def test_no_two_classes_have_one_name() -> None:
    places = defaultdict(list)
    for file, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{file.relative_to(CODE)}:{node.lineno}")
    assert len(places) > 500
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_class_is_imported_under_the_name_of_another() -> None:
    """`import X as Y` where Y is a class of labtests, too."""
    classes = {
        node.name
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    misleading = [
        f"{file.relative_to(CODE)}: {alias.name} as {alias.asname}"
        for file, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("labtests")
        for alias in node.names
        if alias.asname in classes
    ]
    assert misleading == []
