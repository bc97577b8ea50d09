"""From tree to text: what is written is parsed to the same tree again."""

from __future__ import annotations

from shoal.mart.expressions.parsing import (
    COMPARISON,
    KEYWORDS,
    MINUS,
    NOT,
    POWER,
    STRENGTH,
)
from shoal.mart.expressions.tokens import NAME
from shoal.mart.expressions.tree import (
    Binary,
    Call,
    Case,
    Column,
    In,
    IsMissing,
    ListOf,
    MapName,
    Missing,
    Node,
    Number,
    Text,
    Truth,
    Unary,
)

_WHOLE = POWER + 1


def write(node: Node) -> str:
    """The text of a tree, with parentheses only where they are needed."""
    return _written(node)[0]


def _written(node: Node) -> tuple[str, int]:
    """The text of a tree, and how strongly it holds together."""
    match node:
        case Unary(operator="-", operand=operand):
            return f"-{_within(operand, MINUS + 1)}", MINUS
        case Unary(operator=operator, operand=operand):
            return f"{operator} {_within(operand, NOT)}", NOT
        case Binary(operator=operator, left=left, right=right):
            strength = STRENGTH[operator]
            on_left = strength + (operator == "^" or strength == COMPARISON)
            on_right = strength + (operator != "^")
            return f"{_within(left, on_left)} {operator} {_within(right, on_right)}", strength
        case IsMissing(operand=operand, negated=negated):
            verb = "is not missing" if negated else "is missing"
            return f"{_within(operand, COMPARISON + 1)} {verb}", COMPARISON
        case In(operand=operand, items=items, negated=negated):
            verb = "not in" if negated else "in"
            return f"{_within(operand, COMPARISON + 1)} {verb} ({_listed(items)})", COMPARISON
    return _simple(node), _WHOLE


def _within(node: Node, least: int) -> str:
    text, strength = _written(node)
    return text if strength >= least else f"({text})"


def _simple(node: Node) -> str:
    match node:
        case Number(value=value):
            return repr(value)
        case Text(value=value):
            return "'" + value.replace("'", "''") + "'"
        case Truth(value=value):
            return "true" if value else "false"
        case Missing():
            return "missing"
        case Column(source=None, name=name) | MapName(name=name):
            return _name(name)
        case Column(source=str(source), name=name):
            return f"{_name(source)}.{_name(name)}"
        case ListOf(items=items):
            return f"[{_listed(items)}]"
        case Call(function=function, arguments=arguments):
            return f"{function}({_listed(arguments)})"
        case Case(branches=branches, otherwise=otherwise):
            whens = "".join(f" when {write(when)} then {write(then)}" for when, then in branches)
            last = "" if otherwise is None else f" else {write(otherwise)}"
            return f"case{whens}{last} end"
    raise AssertionError(node)


def _listed(nodes: tuple[Node, ...]) -> str:
    return ", ".join(write(node) for node in nodes)


def _name(name: str) -> str:
    """A name, in backquotes where it would not be read as one."""
    if NAME.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    return "`" + name.replace("`", "``") + "`"
