"""A definition that is written reads back as the same definition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.definition.model import Definition
from shoal.definition.parse import parse_yaml
from shoal.definition.read import from_mapping, read
from shoal.definition.write import to_mapping, to_yaml

texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8) | st.sampled_from(
    ["null", "~", "<<", "no", "007", "1e3", "a: b", "# c", "- d", "*", "&x", "5%", "x s", "a\nb"]
)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)
multiples = st.lists(st.integers(2, 4), min_size=1, max_size=3).map(
    lambda steps: [0.5 * 2 ** sum(steps[: i + 1]) for i in range(len(steps))]
)
rising = st.lists(st.integers(1, 20), min_size=1, max_size=4, unique=True).map(sorted)
file_names = st.text("abc xyz_-%", min_size=1, max_size=8).map(lambda name: f"out/_{name}.csv")
trees = st.recursive(
    st.lists(texts, min_size=1, max_size=3) | texts | st.none(),
    lambda below: st.dictionaries(texts, below, min_size=1, max_size=3),
    max_leaves=6,
).flatmap(lambda below: st.dictionaries(texts, st.just(below), min_size=1, max_size=2))


def keys(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping with some of these keys."""
    optional = {key.replace("_", " "): value for key, value in values.items()}
    return st.fixed_dictionaries({}, optional=optional)


def joined(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*parts).map(lambda found: {k: v for part in found for k, v in part.items()})


hierarchies = st.one_of(
    st.just("suppress"),
    joined(
        st.fixed_dictionaries({"mask": rising | st.integers(1, 9)}),
        st.just({}) | st.just({"from": "left"}),
    ),
    joined(st.fixed_dictionaries({"intervals": multiples}), keys(origin=numbers, bottom=numbers)),
    st.fixed_dictionaries({"cuts": rising}),
    joined(
        st.fixed_dictionaries({"date": st.sampled_from([["day", "year"], ["week"], "month"])}),
        keys(format=st.just("%d.%m.%Y")),
    ),
    joined(
        st.fixed_dictionaries({"groups": st.sampled_from([[2, 4], [3]])}),
        keys(order=st.sampled_from(["text", "number", "auto"])),
    ),
    st.fixed_dictionaries({"tree": trees}),
)
quasi_identifiers = joined(
    st.just({"role": "quasi-identifier"}),
    keys(hierarchy=hierarchies, priority=st.floats(0.001, 10), limit=st.integers(0, 0)),
)
sensitive = joined(
    st.just({"role": "sensitive", "closeness": {"t": 0.2}}),
    keys(
        hierarchy=hierarchies,
        diversity=st.sampled_from(
            [{"distinct": 3}, {"entropy": 2.5}, {"recursive": {"c": 0.5, "l": 2}}]
        ),
    ),
)
attributes = st.dictionaries(
    texts,
    st.sampled_from(["identifier", "keep", "drop"]) | quasi_identifiers | sensitive,
    max_size=4,
).map(lambda found: {**found, "age": {"role": "quasi-identifier"}})
definitions = joined(
    st.fixed_dictionaries(
        {
            "source": st.sampled_from(["x.csv", {"path": "data/*.csv", "delimiter": "\t"}]),
            "k": st.integers(2, 10**6),
            "attributes": attributes,
        }
    ),
    keys(
        output=file_names | file_names.map(lambda name: {"path": name, "delimiter": ";"}),
        report=st.just("report.html"),
        suppression=st.floats(0, 1) | st.integers(0, 10**6),
        suppressed=st.sampled_from(["drop", "mark"]),
        person=st.just("its id") | st.just(["a name", "its id"]),
        strict=st.booleans(),
        missing=st.just("basic") | st.lists(texts, max_size=3).map(lambda v: {"values": v}),
        search=keys(
            time_limit=st.floats(1e-9, 1e9).map(lambda x: f"{x:.12f}"),
            gap=st.floats(0, 1),
            threads=st.integers(1, 8),
        ),
        others=st.sampled_from(["keep", "drop"]),
    ),
).filter(lambda found: float(found.get("search", {}).get("time limit", 1)) > 0)


@pytest.mark.slow
@settings(max_examples=150)
@given(definitions)
def test_a_definition_survives_yaml_and_json(data: dict[str, Any]) -> None:
    definition = from_mapping(data)
    assert from_mapping(to_mapping(definition)) == definition
    assert from_mapping(parse_yaml(to_yaml(definition)).data) == definition
    assert from_mapping(json.loads(json.dumps(to_mapping(definition)))) == definition


def small(**more: Any) -> Definition:
    attribute = {"role": "quasi-identifier", "hierarchy": {"mask": [1, 2, 3]}}
    return from_mapping({"source": "x.csv", "k": 5, "attributes": {"zip": attribute}, **more})


def test_short_forms_are_used_where_they_say_all() -> None:
    definition = small(
        output={"path": "y.csv"},
        missing={"match": "basic"},
        suppression=0.05,
        search={"time limit": "5 min"},
    )
    assert to_mapping(definition) == {
        "source": "x.csv",
        "output": "y.csv",
        "k": 5,
        "suppression": "5%",
        "missing": "basic",
        "search": {"time limit": "300 s"},
        "attributes": {"zip": {"role": "quasi-identifier", "hierarchy": {"mask": 3}}},
    }


def test_yaml_has_a_line_for_each_attribute() -> None:
    attributes = {"no": "keep", "a: b": "drop", "007": {"role": "quasi-identifier", "limit": 1}}
    assert to_yaml(small(attributes=attributes)) == (
        "source: x.csv\n"
        "k: 5\n"
        "attributes:\n"
        '  "no": keep\n'
        '  "a: b": drop\n'
        '  "007": {role: quasi-identifier, limit: 1}\n'
    )


def test_a_long_attribute_has_a_line_for_each_key() -> None:
    tree = {f"group {i}": [f"value {i}"] for i in range(9)}
    attribute = {"role": "quasi-identifier", "hierarchy": {"tree": tree}}
    text = to_yaml(small(attributes={"a": attribute}))
    assert "  a:\n    role: quasi-identifier\n    hierarchy:\n      tree:\n" in text
    assert "        group 3: [value 3]\n" in text


def test_a_hierarchy_file_keeps_its_path_and_delimiter(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text("a,*\n")
    given_as = {"path": str(path), "delimiter": ","}
    attribute = {"role": "quasi-identifier", "hierarchy": given_as}
    definition = small(attributes={"a": attribute})
    assert to_mapping(definition)["attributes"]["a"] == attribute
    assert from_mapping(to_mapping(definition)) == definition


@pytest.mark.parametrize("length", [1000, 1022, 1024, 3000])
@pytest.mark.parametrize("letter", ["L", '"', "\n", "\N{FISH}"])
def test_a_very_long_name_of_a_column_is_read_back(
    tmp_path: Path, length: int, letter: str
) -> None:
    name = letter * length
    tree = {"tree": {"x" * length: ["a", "b" * length], "y": {"z": ["c"]}}}
    attributes = {name: {"role": "quasi-identifier", "hierarchy": tree}, "q" * length: "keep"}
    definition = from_mapping({"source": "a.csv", "k": 5, "attributes": attributes})
    path = tmp_path / "it.yaml"
    path.write_text(to_yaml(definition), encoding="utf-8")
    assert read(path).attributes == definition.attributes
