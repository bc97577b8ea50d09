"""What the collapse hands on about the tuples that it read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.collapse.read import collapse, distinct_values
from shoal.definition.read import from_mapping
from shoal.pipeline import prepare
from verify.rows import source

if TYPE_CHECKING:
    from shoal.definition.model import Definition


def test_distinct_values_leave_out_what_is_missing() -> None:
    counted = source("xy", [("a", "b"), ("a", None), ("c", "?")]).count_by("xy", ["?"])
    assert distinct_values(counted, ["x", "y"]) == {"x": {"a", "c"}, "y": {"b"}}


AGES = {str(age): 1 + age % 3 for age in range(20, 60)}
"""The values of the whole table, with their records."""


def definition_of(**changes: Any) -> Definition:
    roles = {"age": {"role": "quasi-identifier", "hierarchy": {"groups": [5, 10]}}}
    return from_mapping({"source": "rows.csv", "k": 2, "attributes": roles, **changes})


def test_the_domain_decides_levels_and_leaves_whatever_was_selected() -> None:
    whole = collapse(definition_of(), source(["age"], [(age,) for age in AGES]))
    rows = [("21",), ("21",), ("58",)]
    selected = collapse(definition_of(), source(["age"], rows), domain={"age": AGES})
    (age,), (of_whole,) = selected.table.attributes, whole.table.attributes
    assert list(age.hierarchy.rows()) == list(of_whole.hierarchy.rows())
    assert set(selected.values["age"]) == set(AGES)
    assert selected.table.records == 3
    alone = collapse(definition_of(), source(["age"], rows))
    assert list(alone.table.attributes[0].hierarchy.rows()) != list(age.hierarchy.rows())


def test_a_hierarchy_is_proposed_for_the_domain_not_for_the_selection() -> None:
    bare = definition_of(attributes={"age": "quasi-identifier"})
    rows = [("21",), ("22",)]
    selected = collapse(bare, source(["age"], rows), domain={"age": AGES})
    whole = collapse(bare, source(["age"], [(age,) for age in AGES]))
    assert selected.definition.attributes["age"] == whole.definition.attributes["age"]


def test_the_domain_counts_also_where_tuples_are_too_many_to_read() -> None:
    narrow = definition_of(engine={"tuples": 4}, k=3)
    rows = [(str(age),) for age in range(20, 30)] * 2
    selected = collapse(narrow, source(["age"], rows), domain={"age": AGES})
    (age,) = selected.table.attributes
    assert set(age.hierarchy.labels[0]) == set(AGES)


def test_the_loss_of_a_node_does_not_change_with_the_selection() -> None:
    few = source(["age"], [("21",), ("22",), ("33",), ("34",)])
    every = source(["age"], [(age,) for age in AGES])
    for loss in ("weighted", "precision"):
        stated = definition_of(loss=loss)
        problems = [
            prepare(stated, each, file="definition", domain={"age": AGES}).problem
            for each in (few, every)
        ]
        for node in ((1,), (2,), (3,)):
            costs = {round(problem.objective.lower_bound(node), 12) for problem in problems}
            assert len(costs) == 1
