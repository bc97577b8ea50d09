"""What pages show of nodes: the picture's nodes, one node, and the source beside a release."""

from __future__ import annotations

import csv
import itertools
from collections import Counter
from pathlib import Path

import pytest

from analysis.zips import write_zips
from shoal.analysis.explore import explore
from shoal.analysis.one_node import describe_node
from shoal.analysis.side_by_side import MOST_TUPLES, side_by_side
from shoal.errors import Infeasible, UserError
from shoal.pipeline import run

ZIP = ("zip", "age", "sex")


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    return write_zips(tmp_path, ages="[10, 20]")


def recoded(path: Path, node: tuple[int, ...]) -> list[tuple[str, ...]]:
    """The records at a node, by plain Python."""
    with (path.parent / "data.csv").open() as file:
        rows = [tuple(row[name] for name in ZIP) for row in csv.DictReader(file)]

    def age(value: str, level: int) -> str:
        width = (1, 10, 20, 1000)[level]
        return str(int(value) // width)

    return [(z[: 3 - node[0]], age(a, node[1]), s if node[2] == 0 else "*") for z, a, s in rows]


def test_every_node_of_a_small_lattice_is_counted_as_plain_python_does(definition: Path) -> None:
    found = explore(definition)
    assert found.names == ZIP
    assert found.complete
    assert found.lattice == len(found.nodes)
    nodes = itertools.product(*(range(height + 1) for height in found.heights))
    assert sorted(each.node for each in found.nodes) == list(nodes)
    for each in found.nodes:
        sizes = Counter(recoded(definition, each.node)).values()
        suppressed = sum(size for size in sizes if size < 5)
        assert each.suppressed == suppressed
        assert each.safe == (suppressed <= 12)
        assert each.k == (min(size for size in sizes if size >= 5) if each.safe else min(sizes))


def test_a_large_lattice_is_shown_around_the_node_one_stands_at(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(9)]
    rows = [",".join("abcd"[(i * 7 + j) % 4] for j in range(9)) for i in range(60)]
    (tmp_path / "wide.csv").write_text("\n".join([",".join(names), *rows]), encoding="utf-8")
    definition = {
        "source": str(tmp_path / "wide.csv"),
        "k": 2,
        "attributes": {
            name: {"role": "quasi-identifier", "hierarchy": "suppress"} for name in names
        },
    }
    here = dict.fromkeys(names, 0) | {"c3": 1}
    far = dict.fromkeys(names, 1)
    found = explore(definition, here, [far])
    shown = {each.node for each in found.nodes}
    assert not found.complete
    assert found.lattice == 512
    assert len(found.nodes) < 100
    assert tuple(here.values()) in shown
    assert (0,) * 9 in shown
    assert (1,) * 9 in shown


def test_a_node_says_what_the_run_that_releases_it_says(definition: Path) -> None:
    best = run(definition)
    other = {"zip": 3, "age": 2, "sex": 0}
    found = describe_node(definition, other, best.levels)
    chosen = run(definition, node=other)
    for facts, result in ((found.node, chosen), (found.other, best)):
        assert facts is not None
        assert facts.safe
        assert facts.loss == pytest.approx(result.loss)
        assert facts.suppressed == result.suppressed
        assert facts.k == result.smallest_class
        assert facts.classes == result.classes
        assert facts.risk == result.after
        assert {each.name: each.loss for each in facts.columns} == pytest.approx(
            {name: each.loss for name, each in result.treatments.items()}
        )
    assert found.before == best.before
    assert 0 < found.node.quality["granularity"] < 1


def test_an_unsafe_node_says_why(definition: Path) -> None:
    found = describe_node(definition, dict.fromkeys(ZIP, 0)).node
    assert not found.safe
    assert any("may be" in fault for fault in found.faults)
    with pytest.raises(UserError, match="above its hierarchy"):
        describe_node(definition, {"zip": 9, "age": 0, "sex": 0})


def test_side_by_side_shows_no_raw_value_unless_they_are_wanted(definition: Path) -> None:
    levels = {"zip": 3, "age": 2, "sex": 0}
    hidden, shown = (side_by_side(definition, levels, raw=raw) for raw in (False, True))
    truth = Counter(recoded(definition, (3, 2, 0)))
    assert sorted(each.records for each in hidden.sample) == sorted(truth.values())
    assert all(not each.examples for each in hidden.sample)
    raw = Counter(recoded(definition, (0, 0, 0)))
    for each in shown.sample:
        assert 1 <= len(each.examples) <= MOST_TUPLES
        for example in each.examples:
            assert raw[example.values] == example.records  # type: ignore[index]
        assert each.tuples >= len(each.examples)
    assert hidden.before is not None
    assert hidden.after is not None
    assert hidden.after.smallest_class == min(truth.values())


def test_distributions_before_and_after_add_up_and_name_no_rare_value(definition: Path) -> None:
    found = side_by_side(definition, {"zip": 3, "age": 2, "sex": 0})
    for column in found.columns:
        for bars in (column.original, column.released):
            assert sum(each.after for each in bars) == found.records - found.hidden
            assert sum(each.before for each in bars) == pytest.approx(found.records)
            assert all(each.after >= 5 for each in bars if not each.others)
    ages = next(each for each in found.columns if each.name == "age")
    assert ages.original[-1].others  # most ages have fewer than k records


def test_an_unsafe_release_is_not_compared(definition: Path) -> None:
    with pytest.raises(Infeasible, match="is not safe"):
        side_by_side(definition, dict.fromkeys(ZIP, 0))
