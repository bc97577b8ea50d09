from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.search import antichain as module
from shoal.search.antichain import Antichain, AntichainStatistics, Direction
from shoal.values import Node

TOP = 3
"""Small enough that every node of a lattice can be asked for."""

DIRECTIONS = pytest.mark.parametrize("direction", ["down", "up"])


def nodes_of(attributes: int) -> st.SearchStrategy[Node]:
    return st.tuples(*[st.integers(0, TOP)] * attributes)


def some_nodes() -> st.SearchStrategy[list[Node]]:
    return st.integers(1, 4).flatmap(lambda m: st.lists(nodes_of(m), min_size=1, max_size=30))


def below(x: Node, y: Node) -> bool:
    return all(a <= b for a, b in zip(x, y, strict=True))


def speaks_for(direction: Direction, stored: Node, node: Node) -> bool:
    return below(stored, node) if direction == "up" else below(node, stored)


def filled(direction: Direction, nodes: list[Node]) -> Antichain:
    antichain = Antichain(len(nodes[0]), direction)
    for node in nodes:
        antichain.insert(node)
    return antichain


@pytest.mark.slow
@DIRECTIONS
@given(nodes=some_nodes())
@settings(max_examples=200)
def test_a_node_is_covered_exactly_when_an_inserted_one_covers_it(
    direction: Direction, nodes: list[Node]
) -> None:
    antichain = filled(direction, nodes)
    for node in itertools.product(range(TOP + 1), repeat=len(nodes[0])):
        expected = any(speaks_for(direction, stored, node) for stored in nodes)
        assert antichain.covers(node) == expected


@pytest.mark.slow
@DIRECTIONS
@given(nodes=some_nodes())
@settings(max_examples=300)
def test_exactly_the_inserted_nodes_that_no_other_covers_are_kept(
    direction: Direction, nodes: list[Node]
) -> None:
    antichain = filled(direction, nodes)
    expected = [
        node
        for node in set(nodes)
        if not any(other != node and speaks_for(direction, other, node) for other in nodes)
    ]
    assert sorted(antichain) == sorted(expected)
    assert len(antichain) == len(expected)


@pytest.mark.slow
@DIRECTIONS
@given(calls=st.lists(st.tuples(st.booleans(), nodes_of(3)), max_size=60))
@settings(max_examples=300)
def test_the_statistics_are_those_of_a_plain_list(
    direction: Direction, calls: list[tuple[bool, Node]]
) -> None:
    antichain = Antichain(3, direction)
    kept: list[Node] = []
    inserts = queries = hits = largest = 0
    for is_insert, node in calls:
        covered = any(speaks_for(direction, stored, node) for stored in kept)
        if is_insert:
            antichain.insert(node)
            if not covered:
                kept = [y for y in kept if not speaks_for(direction, node, y)] + [node]
                inserts += 1
                largest = max(largest, len(kept))
        else:
            assert antichain.covers(node) == covered
            queries += 1
            hits += covered
        expected = AntichainStatistics(inserts, queries, hits, len(kept), largest)
        assert antichain.statistics == expected


@pytest.mark.slow
@DIRECTIONS
@given(nodes=some_nodes())
@settings(max_examples=200)
def test_every_branch_knows_the_ranks_of_what_follows_it(
    direction: Direction, nodes: list[Node]
) -> None:
    """Ranks that were left too wide by a drop would cover the same, only slower."""
    antichain = filled(direction, nodes)
    sign = 1 if direction == "up" else -1
    for node in antichain:
        branch = antichain._root
        for depth in range(1, len(node) + 1):
            branch = branch.children[sign * node[depth - 1]]
            ranks = [sign * sum(y[depth:]) for y in antichain if y[:depth] == node[:depth]]
            assert (branch.least_rank, branch.greatest_rank) == (min(ranks), max(ranks))


def test_the_example_of_the_paper_covers_its_query() -> None:
    antichain = filled("up", [(1, 1, 1), (1, 3, 0), (3, 2, 0)])
    assert set(antichain) == {(1, 1, 1), (1, 3, 0), (3, 2, 0)}
    assert antichain.covers((1, 2, 2))
    assert not antichain.covers((1, 2, 0))


@DIRECTIONS
def test_a_node_covers_itself(direction: Direction) -> None:
    assert filled(direction, [(1, 2)]).covers((1, 2))


@DIRECTIONS
def test_an_empty_antichain_covers_nothing(direction: Direction) -> None:
    antichain = Antichain(2, direction)
    assert not antichain.covers((0, 0))
    assert not antichain.covers((TOP, TOP))
    assert list(antichain) == []
    assert len(antichain) == 0


def test_shares_are_of_the_queries_and_of_the_inserts() -> None:
    antichain = filled("up", [(2, 0), (0, 2), (1, 0), (0, 0), (3, 3)])
    for node in [(0, 1), (2, 2), (1, 1)]:
        antichain.covers(node)
    statistics = antichain.statistics
    assert statistics == AntichainStatistics(inserts=4, queries=3, hits=3, size=1, largest=2)
    assert statistics.hit_rate == 1.0
    assert statistics.antichain_share == 0.5


def test_shares_are_zero_before_anything_happened() -> None:
    statistics = Antichain(2, "down").statistics
    assert statistics.hit_rate == 0.0
    assert statistics.antichain_share == 0.0


def test_statistics_do_not_change_afterwards() -> None:
    antichain = filled("up", [(1, 1)])
    before = antichain.statistics
    antichain.insert((0, 0))
    assert before.inserts == 1


@pytest.fixture
def visits(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many branches each walk of the tree has entered."""
    entered = {"_any_below": 0, "_drop_above": 0}

    def counted(name: str) -> Callable[..., Any]:
        walk = getattr(module, name)

        def counting(*arguments: Any) -> Any:
            entered[name] += 1
            return walk(*arguments)

        return counting

    for name in entered:
        monkeypatch.setattr(module, name, counted(name))
    return entered


def test_a_query_stays_out_of_branches_that_outrank_it(visits: dict[str, int]) -> None:
    antichain = filled("up", [(0, 9, 0), (1, 0, 9)])
    visits["_any_below"] = 0
    assert not antichain.covers((5, 5, 3))
    assert visits["_any_below"] == 1


def test_an_insert_stays_out_of_branches_that_rank_below_it(visits: dict[str, int]) -> None:
    antichain = filled("up", [(5, 0, 1), (6, 1, 0)])
    visits["_drop_above"] = 0
    antichain.insert((0, 2, 2))
    assert visits["_drop_above"] == 1
    assert len(antichain) == 3


def test_a_node_of_another_lattice_is_refused() -> None:
    antichain = Antichain(2, "up")
    with pytest.raises(ValueError, match="has not 2 levels"):
        antichain.insert((1, 1, 1))
    with pytest.raises(ValueError, match="has not 2 levels"):
        antichain.covers((1,))


def test_an_antichain_without_attributes_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one attribute"):
        Antichain(0, "up")


def test_an_unknown_direction_is_refused() -> None:
    with pytest.raises(ValueError, match="'down' or 'up', not 'sideways'"):
        Antichain(2, "sideways")  # type: ignore[arg-type]
