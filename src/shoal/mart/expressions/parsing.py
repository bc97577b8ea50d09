"""From text to tree: precedence climbing, with limits on nesting.

Operators, from the weakest to the strongest; those of one line have the same strength:

    or
    and
    not
    =  !=  <  <=  >  >=  in  is missing       (not chained: `a < b < c` is a mistake)
    ||
    +  -
    *  /  %
    -  (of one operand)
    ^                                         (from the right: 2 ^ 3 ^ 2 is 2 ^ 9)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from shoal.errors import UserError
from shoal.mart.expressions.functions import check_call, check_name
from shoal.mart.expressions.tokens import Token, mistake, number_of, tokens
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
    walk,
)

DEEPEST = 60
"""Levels that the tree of an expression may have."""

NESTED = 2 * DEEPEST + 5
"""Calls of the parser within each other: a tree within the limit never needs more."""

KEYWORDS = frozenset("case when then else end and or not in is missing true false".split())
"""Words that are no names unless they stand in backquotes; in capitals too."""

OR, AND, NOT, COMPARISON, CONCATENATION, SUM, PRODUCT, MINUS, POWER = range(1, 10)

STRENGTH = {
    "or": OR,
    "and": AND,
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">=", "in", "is", "not"), COMPARISON),
    "||": CONCATENATION,
    **dict.fromkeys("+-", SUM),
    **dict.fromkeys("*/%", PRODUCT),
    "^": POWER,
}
"""The strength of each operator between operands; `not` stands there as the first of `not in`."""


def parse_tree(text: str, where: str) -> Node:
    """The tree of an expression; `where` is what messages call the expression."""
    parser = _Parser(list(tokens(text, where)), where)
    root = parser.whole()
    if any(depth > DEEPEST for _, depth in walk(root)):
        raise too_deep(where)
    return root


def too_deep(where: str) -> UserError:
    """The expression is nested too deeply."""
    return UserError(
        f"{where}: the expression is nested more than {DEEPEST} levels deep",
        code="expression-too-deep",
        hint="divide it into several derived columns, or put long lists into a map",
    )


@dataclass
class _Parser:
    tokens: list[Token]
    where: str
    index: int = 0
    nested: int = field(default=0)

    def whole(self) -> Node:
        if self.next.kind == "end":
            remedy = "write a column or a calculation"
            raise mistake(self.where, 1, "the expression is empty", remedy)
        root = self.expression(OR)
        if self.next.kind != "end":
            raise self.unexpected("the end or an operator")
        return root

    @property
    def next(self) -> Token:
        return self.tokens[self.index]

    @property
    def word(self) -> str:
        """The next token where it is a symbol or a keyword, else nothing."""
        token = self.next
        if token.kind == "name" and token.text.lower() in KEYWORDS:
            return token.text.lower()
        return token.text if token.kind == "symbol" else ""

    def take(self) -> Token:
        token = self.next
        self.index += 1
        return token

    def expect(self, word: str) -> None:
        if self.word != word:
            raise self.unexpected(f"`{word}`")
        self.take()

    def accepts(self, word: str) -> bool:
        if self.word != word:
            return False
        self.take()
        return True

    def unexpected(self, wanted: str) -> UserError:
        token = self.next
        found = "the end of the expression" if token.kind == "end" else f"`{token.text[:40]}`"
        if token.kind in ("symbol", "name") and token.text in ("=", "<", ">"):
            wanted += "; comparisons are `=`, `!=`, `<`, `<=`, `>`, `>=`, and cannot be chained"
        return mistake(self.where, token.position, f"{found} is not expected", f"write {wanted}")

    def expression(self, least: int) -> Node:
        """An expression whose operators between operands are at least so strong."""
        self.nested += 1
        if self.nested > NESTED:
            raise too_deep(self.where)
        left = self.prefixed(least)
        compared = False
        while self.word in STRENGTH and STRENGTH[self.word] >= least:
            is_comparison = STRENGTH[self.word] == COMPARISON
            if compared and is_comparison:
                raise self.unexpected("`and` between two comparisons, or parentheses")
            compared = is_comparison
            left = self.infix(left)
        self.nested -= 1
        return left

    def prefixed(self, least: int) -> Node:
        position = self.next.position
        if self.word == "-":
            self.take()
            return Unary("-", self.expression(MINUS), position=position)
        if self.word == "not":
            if least > NOT:
                raise self.unexpected("`not` in parentheses: `(not x)`")
            self.take()
            return Unary("not", self.expression(NOT), position=position)
        return self.primary()

    def infix(self, left: Node) -> Node:
        operator = self.word
        position = self.take().position
        if operator == "is":
            negated = self.accepts("not")
            self.expect("missing")
            return IsMissing(left, negated, position=position)
        if operator in ("in", "not"):
            if operator == "not":
                self.expect("in")
            self.expect("(")
            return In(left, self.items(")"), operator == "not", position=position)
        strength = STRENGTH[operator]
        right = self.expression(strength if operator == "^" else strength + 1)
        return Binary(operator, left, right, position=position)

    def items(self, closing: str) -> tuple[Node, ...]:
        """One or more expressions with commas between them, and what closes them."""
        found = [self.expression(OR)]
        while self.accepts(","):
            found.append(self.expression(OR))
        self.expect(closing)
        return tuple(found)

    def primary(self) -> Node:
        token, position = self.next, self.next.position
        if self.word == "(":
            self.take()
            inner = self.expression(OR)
            self.expect(")")
            return inner
        if self.word == "case":
            return self.case()
        if self.word in ("true", "false"):
            return Truth(self.take().text.lower() == "true", position=position)
        if self.accepts("missing"):
            return Missing(position=position)
        if token.kind == "number":
            return Number(number_of(self.take(), self.where), position=position)
        if token.kind == "text":
            return Text(self.take().text, position=position)
        if token.kind in ("name", "quoted") and not self.word:
            return self.named()
        raise self.unexpected("a column, a number, a text in quotes or a function")

    def name(self) -> Token:
        if self.next.kind not in ("name", "quoted") or self.word:
            raise self.unexpected("a name; words of the language stand in backquotes as names")
        return self.take()

    def named(self) -> Node:
        """A function, or a column with or without its source."""
        token = self.name()
        if token.kind == "name" and self.word == "(":
            return self.call(token)
        if self.accepts("."):
            return Column(token.text, self.name().text, position=token.position)
        return Column(None, token.text, position=token.position)

    def call(self, token: Token) -> Node:
        function = token.text.lower()
        check_name(function, self.where, token.position)
        self.expect("(")
        arguments: list[Node] = []
        while not self.accepts(")"):
            if arguments:
                self.expect(",")
            arguments.append(self.argument(function, len(arguments)))
        call = Call(function, tuple(arguments), position=token.position)
        check_call(call, self.where)
        return call

    def argument(self, function: str, index: int) -> Node:
        if function == "band" and index > 0 and self.word == "[":
            return self.list_of()
        if function == "lookup" and index == 1:
            token = self.name()
            return MapName(token.text, position=token.position)
        return self.expression(OR)

    def list_of(self) -> Node:
        """Numbers or texts in brackets."""
        position = self.take().position
        found = [self.item()]
        while self.accepts(","):
            found.append(self.item())
        self.expect("]")
        return ListOf(tuple(found), position=position)

    def item(self) -> Number | Text:
        position = self.next.position
        sign = -1 if self.accepts("-") else 1
        if self.next.kind == "number":
            return Number(sign * number_of(self.take(), self.where), position=position)
        if self.next.kind == "text" and sign == 1:
            return Text(self.take().text, position=position)
        raise self.unexpected("a number or a text in quotes")

    def case(self) -> Node:
        position = self.take().position
        branches: list[tuple[Node, Node]] = []
        while self.accepts("when"):
            condition = self.expression(OR)
            self.expect("then")
            branches.append((condition, self.expression(OR)))
        if not branches:
            raise self.unexpected("`when`: `case when x > 1 then 'a' else 'b' end`")
        otherwise = self.expression(OR) if self.accepts("else") else None
        self.expect("end")
        return Case(tuple(branches), otherwise, position=position)
