"""`$(( … ))`: integers, variables, + - * / % and parentheses, comparisons."""

import ast
import operator
from collections.abc import Callable, Mapping


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_OPERATORS: Mapping[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: lambda a, b: a - b * _quotient(a, b),
    ast.Div: lambda a, b: _quotient(a, b),
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def evaluate(expression: str, variables: Mapping[str, str]) -> int:
    """The value. Raises ValueError with bash's words."""
    try:
        return _value(
            ast.parse(expression.replace("$", "").strip() or "0", mode="eval").body, variables
        )
    except (SyntaxError, KeyError, TypeError, RecursionError, MemoryError, OverflowError):
        raise ValueError(f"{expression}: syntax error: operand expected") from None
    except ZeroDivisionError:
        raise ValueError(f"{expression}: division by 0") from None


def _value(node: ast.AST, variables: Mapping[str, str]) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return int(variables.get(node.id, "0") or "0", 0)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, variables)
    if isinstance(node, ast.BinOp):
        combine = _OPERATORS[type(node.op)]
        return combine(_value(node.left, variables), _value(node.right, variables))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        compare = _OPERATORS[type(node.ops[0])]
        return int(compare(_value(node.left, variables), _value(node.comparators[0], variables)))
    raise TypeError(node)
