"""From text to tree and back: precedence, names, mistakes with their place, limits."""

from __future__ import annotations

import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import UserError
from shoal.mart.expressions import parse


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("1+2*3", "1 + (2 * 3)"),
        ("1-2-3", "(1 - 2) - 3"),
        ("2^3^2", "2 ^ (3 ^ 2)"),
        ("-2^2", "-(2 ^ 2)"),
        ("2 ^ -1 * 3", "(2 ^ (-1)) * 3"),
        ("--x", "-(-x)"),
        ("a -- comment", "a - (-comment)"),
        ("-a * b", "(-a) * b"),
        ("a = 1 and not b = 2 or c", "((a = 1) and (not (b = 2))) or c"),
        ("'a' || 1 + 2 = 'a3'", "('a' || (1 + 2)) = 'a3'"),
        ("a + 1 is missing", "(a + 1) is missing"),
        ("not a in (1, 2)", "not (a in (1, 2))"),
        ("CASE WHEN a THEN 1 ELSE 2 END", "case when a then 1 else 2 end"),
        ("ROUND(x) IS NOT MISSING", "round(x) is not missing"),
        ("1.50", "1.5"),
        ("1e3", "1000"),
        ("2.0", "2"),
        ("`height`", "height"),
        ("lookup(x, `icd`)", "lookup(x, icd)"),
        ("\n\tx\r\n", "x"),
    ],
)
def test_two_texts_are_the_same_expression(text: str, same: str) -> None:
    assert parse(text, "derive") == parse(same, "derive")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("((a)) + (b)", "a + b"),
        ("(a - b) - (c - d)", "a - b - (c - d)"),
        ("(a ^ b) ^ (c ^ d)", "(a ^ b) ^ c ^ d"),
        ("(not a) = b", "(not a) = b"),
        ("findings.`Send Date`", "findings.`Send Date`"),
        ("`case`", "`case`"),
        ("`End`.`a``b`", "`End`.`a``b`"),
        ("`1a`", "`1a`"),
        ("date", "date"),
        ("größe", "größe"),
        ("'it''s'", "'it''s'"),
        ("band(x, [-1.5, 2], ['a', 'b', 'c'])", "band(x, [-1.5, 2], ['a', 'b', 'c'])"),
        ("x not in ('a')", "x not in ('a')"),
        ("lookup(a, m, coalesce(b, missing))", "lookup(a, m, coalesce(b, missing))"),
    ],
)
def test_an_expression_is_written_with_few_parentheses(text: str, written: str) -> None:
    expression = parse(text, "derive")
    assert str(expression) == written
    assert parse(written, "derive") == expression


def test_an_expression_says_which_columns_and_maps_it_reads() -> None:
    text = "case when a.x = x then lookup(y, icd) else lookup(x, `other map`, a.x) end"
    expression = parse(text, "derive")
    assert expression.columns == (("a", "x"), (None, "x"), (None, "y"))
    assert expression.maps == ("icd", "other map")


@pytest.mark.parametrize(
    ("text", "position", "part"),
    [
        ("", 1, "the expression is empty"),
        ("   ", 1, "the expression is empty"),
        ("1 +", 4, "the end of the expression is not expected"),
        ("1 2", 3, "`2` is not expected"),
        ("(1", 3, "write `)`"),
        ("1)", 2, "`)` is not expected"),
        ("a < b < c", 7, "cannot be chained"),
        ("a == 1", 4, "comparisons are"),
        ("a <> 1", 4, "comparisons are"),
        ("a = not b", 5, "parentheses"),
        ("a is 1", 6, "write `missing`"),
        ("a not 1", 7, "write `in`"),
        ("a in ()", 7, "`)` is not expected"),
        ("case x when 1 then 2 end", 6, "write `when`"),
        ("case when a then 1", 19, "write `end`"),
        ("then", 1, "`then` is not expected"),
        ("a.", 3, "write a name"),
        ("a.b.c", 4, "`.` is not expected"),
        ("a.case", 3, "in backquotes"),
        ("'open", 1, "a text is not closed"),
        ("`open", 1, "a name is not closed"),
        ("``", 1, "a name is not closed or empty"),
        ('"a"', 1, "texts in single quotes"),
        ("a; b", 2, "a semicolon"),
        ("a /* comment */", 4, "not expected"),
        ("a # b", 3, "U+0023"),
        ("a\u00a0+ b", 2, "U+00A0"),
        ("a \u202e b", 3, "U+202E"),
        ("'a\0b'", 1, "U+0000"),
        ("`a\ud800`", 1, "U+D800"),
        ("１ + 1", 1, "U+FF11"),
        ("1e999", 1, "too large"),
        ("9007199254740992", 1, "too large"),
        ("1" * 400, 1, "too large"),
        ("1.", 2, "not expected"),
        ("rnd(1)", 1, "did you mean 'round'"),
        ("`round`(1)", 8, "not expected"),
        ("round()", 1, "`round` with 0 arguments"),
        ("round(1, 2, 3)", 1, "`round` with 3 arguments"),
        ("round(1, x)", 10, "from 0 to 6"),
        ("round(1, 7)", 10, "from 0 to 6"),
        ("round(1, -1)", 10, "from 0 to 6"),
        ("round(1,)", 9, "not expected"),
        ("left(x, -1)", 9, "from 0 to 10,000"),
        ("left(x, 1.5)", 9, "from 0 to 10,000"),
        ("date(x, 'dd.mm.yy')", 9, "dd, mm and yyyy once"),
        ("date(x, 'dmyyyy')", 9, "dd, mm and yyyy once"),
        ("date(x, y)", 9, "dd, mm and yyyy once"),
        ("date(x, '(dd).mm.yyyy')", 9, "dd, mm and yyyy once"),
        ("replace(x, '', 'a')", 12, "not empty"),
        ("replace(x, 'a', y)", 17, "a text in quotes"),
        ("lookup(x, 'icd')", 11, "write a name"),
        ("lookup(x, a.b)", 12, "not expected"),
        ("band(x, 1, ['a'])", 9, "rising numbers"),
        ("band(x, [2, 1], ['a', 'b', 'c'])", 9, "rising numbers"),
        ("band(x, [1], ['a'])", 1, "1 bounds and 1 labels"),
        ("band(x, [1], [1, 2])", 14, "a list of texts"),
        ("band(x, [y], ['a', 'b'])", 10, "a number or a text"),
        ("[1, 2]", 1, "not expected"),
        ("least([1], 2)", 7, "not expected"),
        ("least(1)", 1, "`least` with 1 arguments"),
    ],
)
def test_a_mistake_names_its_place_and_a_remedy(text: str, position: int, part: str) -> None:
    with pytest.raises(UserError) as raised:
        parse(text, "sources.findings.columns.bmi.derive")
    error = raised.value
    assert error.code == "bad-expression"
    assert error.what.startswith(f"sources.findings.columns.bmi.derive: character {position}: ")
    assert part in str(error)
    assert error.hint


DEEP = {
    "parentheses": "(" * 4_000 + "1" + ")" * 4_000,
    "open parentheses": "(" * 10_000,
    "minus": "-" * 9_000 + "1",
    "not": "not " * 2_000 + "true",
    "power": "1" + "^1" * 4_000,
    "power of minus": "1" + "^-1" * 3_000,
    "sum": "1" + "+1" * 4_000,
    "texts": "'a'" + "||'a'" * 1_900,
    "and": "true" + " and true" * 1_000,
    "functions": "abs(" * 1_900 + "1" + ")" * 1_900,
    "case": "case when true then " * 400 + "1" + " end" * 400,
    "else": "case when true then 1 else " * 300 + "1" + " end" * 300,
    "in": "1 in (" * 1_400 + "1" + ")" * 1_400,
    "61 levels": "abs(" * 60 + "1" + ")" * 60,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_an_expression_that_is_too_deep_is_refused(text: str) -> None:
    with pytest.raises(UserError) as raised:
        parse(text, "derive")
    assert raised.value.code == "expression-too-deep"


def test_an_expression_that_is_too_long_is_refused() -> None:
    with pytest.raises(UserError, match="too long"):
        parse("(" * 10_001, "derive")


@pytest.mark.parametrize(
    "text",
    [
        "abs(" * 59 + "1" + ")" * 59,
        "1" + " + 1" * 59,
        "1" + " ^ 1" * 59,
        "1" + " + (1" * 59 + ")" * 59,
        "-" * 59 + "1",
    ],
)
def test_the_deepest_expression_is_parsed_and_written_on_a_short_stack(text: str) -> None:
    failures: list[BaseException] = []

    def attempt() -> None:
        try:
            expression = parse(text, "derive")
            assert parse(str(expression), "derive") == expression
        except BaseException as error:
            failures.append(error)

    limit = sys.getrecursionlimit()
    thread = threading.Thread(target=attempt)
    try:
        sys.setrecursionlimit(700)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
    assert failures == []


WORDS = [
    *("case when then else end and or not in is missing true false".split()),
    *("+ - * / % ^ = != < <= > >= ( ) [ ] , . || ' ` ; -- /* \" \\".split()),
    *("round( lookup( band( date( x findings 1 2.5 1e9 'a' `b c`".split()),
    *("DROP TABLE", "\0", "\n", "é", "\u2028", "$1", "{}", "%s"),
]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)))
def test_any_text_is_an_expression_or_a_clear_mistake(text: str) -> None:
    try:
        expression = parse(text, "derive")
    except UserError as error:
        found = error
    else:
        assert parse(str(expression), "derive") == expression
        return
    assert found.code in ("bad-expression", "expression-too-deep")
    assert found.hint
