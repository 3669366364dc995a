"""How much code each switch platform is: `python tests/packaging/platform_lines.py`.

Driver and face. A line of code is one with a token that is neither a comment nor part of a
docstring. What several platforms share (labtests/drivers/*.py, displays, simlab/switch_cli,
streaming) is not a platform's.
"""

import ast
import io
import tokenize
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST: Mapping[str, int] = {
    **dict.fromkeys(("nxos", "sonic", "cumulus", "onyx"), 2000),
    "comware": 3000,
}
_NO_CODE = frozenset(
    {
        *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
        *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
    }
)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(text: str) -> int:
    """Of a module."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {
        line
        for token in tokens
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None:
            first = node.body[0]
            lines -= set(range(first.lineno, (first.end_lineno or 0) + 1))
    return len(lines)


def lines_of(platform: str) -> tuple[int, int]:
    """Lines of code, and all lines."""
    files = [
        file.read_text(encoding="utf-8")
        for room in ("drivers", "simlab")
        for file in sorted((ROOT / "labtests" / room / platform).rglob("*.py"))
    ]
    return sum(map(code_lines, files)), sum(text.count("\n") for text in files)


if __name__ == "__main__":
    for name, most in MOST.items():
        code, every = lines_of(name)
        print(f"{name:8} {code} lines of code, at most {most} ({every} with docstrings and blanks)")
