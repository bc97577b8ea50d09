"""Texts that are no good YAML or JSON: each refused in our own words, none a traceback."""

from __future__ import annotations

import pytest

from shoal.definition.parse import Parsed, Unreadable, parse_json, parse_yaml


def refused(text: str, json: bool = False) -> str:
    with pytest.raises(Unreadable) as caught:
        parse_json(text) if json else parse_yaml(text)
    return str(caught.value.mistakes[0])


def test_lines_of_nested_keys_are_kept() -> None:
    parsed = parse_yaml("a: 1\nb:\n  c: 2\n  d: [x,\n    {e: f}]\n")
    assert parsed.lines == {"a": 1, "b": 2, "b.c": 3, "b.d": 4, "b.d.1.e": 5}


def test_a_repeated_key_is_a_mistake_with_its_line() -> None:
    parsed = parse_yaml("a: {x: 1}\nb: 2\na: 3\n")
    assert [(m.key, m.line) for m in parsed.mistakes] == [("a", 3)]
    assert parsed.data == {"a": {"x": "1"}, "b": "2"}


def test_a_repeated_key_in_json_is_a_mistake() -> None:
    parsed = parse_json('{"a": {"x": 1, "x": 2}}')
    assert [m.key for m in parsed.mistakes] == ["x"]


def test_a_tag_is_a_mistake_with_its_line() -> None:
    parsed = parse_yaml("a: 1\nb: [1, !!python/object:os.system x]\n")
    assert [(m.key, m.line) for m in parsed.mistakes] == [("b.1", 2)]


def test_an_alias_repeats_its_anchor() -> None:
    parsed = parse_yaml("a: &x {role: keep}\nb: *x\n")
    assert parsed.data == {"a": {"role": "keep"}, "b": {"role": "keep"}}


def test_aliases_that_multiply_are_refused() -> None:
    levels = "".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]\n" for i in range(1, 9))
    assert "repeat more than" in refused(f"l0: &l0 [x, x]\n{levels}")


@pytest.mark.parametrize("text", ["a: &x [*x]", "a: *nowhere"])
def test_an_alias_without_an_anchor_before_it_is_refused(text: str) -> None:
    assert "has no anchor" in refused(text)


def test_endless_nesting_is_refused() -> None:
    assert "nested too deeply" in refused("a: " + "[" * 200_000)
    assert "nested too deeply" in refused("[" * 500 + "]" * 500, json=True)
    assert "nested too deeply" in refused("[" * 100_000 + "]" * 100_000, json=True)


@pytest.mark.parametrize("text", ["<<: {a: 1}", "{[a]: 1}", "{a: 1}: 2"])
def test_keys_that_are_no_text_are_refused(text: str) -> None:
    assert "key is no plain text" in refused(text)


@pytest.mark.parametrize(
    ("text", "line"), [("a: 1\nb: c: d\n", 2), ("a: [1\n", 2), ("a: 1\n\tb: 2\n", 2), ("a: 'x", 1)]
)
def test_broken_yaml_is_refused_with_its_line(text: str, line: int) -> None:
    assert f"YAML (line {line})" in refused(text)


def test_several_documents_are_refused() -> None:
    assert "several documents" in refused("a: 1\n---\nb: 2\n")


def test_a_control_character_is_refused() -> None:
    assert "control character" in refused("a: \x01")


def test_broken_json_is_refused_with_its_line() -> None:
    assert "JSON (line 2)" in refused('{"a": 1,\n "b" 2}', json=True)


def test_json_numbers_stay_as_they_are_written() -> None:
    assert parse_json('{"a": [1.50, 1e3, 7]}') == Parsed({"a": ["1.50", "1e3", "7"]})
    assert parse_json("5").data == "5"
