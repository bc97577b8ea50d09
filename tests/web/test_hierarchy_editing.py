"""Trees of values as the page edits them, without the page."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.definition.hierarchies.listed import Csv
from shoal.definition.read import from_mapping, read
from shoal.definition.write import spelled
from shoal.encode.hierarchy import Hierarchy, build, write_hierarchy
from shoal.encode.propose import propose, reason
from shoal.errors import BadDefinition, BadHierarchy
from shoal.web.hierarchies import cut_points
from shoal.web.hierarchies.defaults import first_of_kind
from shoal.web.hierarchies.levels import SHOWN, Levels, levels_of
from shoal.web.hierarchies.outline import open_at_first, outline, records_under
from shoal.web.hierarchies.tree import Node, Tree
from shoal.web.hierarchies.tree import Path as NodePath
from shoal.web.hierarchies.written import (
    fits_inline,
    hierarchy_of_tree,
    kind_of_mapping,
    tree_mapping,
)
from shoal.web.jobs.model import Context
from shoal.web.tasks import hierarchy_file

CITIES = [
    ("Oslo", "Norway", "north", "*"),
    ("Bergen", "Norway", "north", "*"),
    ("Turku", "Finland", "north", "*"),
    ("Rome", "Italy", "south", "*"),
    ("Bari", "Italy", "south", "*"),
]
ODD = ["<script>alert(1)</script>", "ש" * 30, "👩‍🔬", "a;b", '"q"', " ", "*", "1.0", "yes"]

labels = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=4)


@st.composite
def row_lists(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Rows of a nested hierarchy with one label on top; labels may repeat from level to level."""
    values = draw(st.lists(labels, min_size=1, max_size=9, unique=True))
    columns = [values]
    for _ in range(draw(st.integers(0, 3))):
        below = list(dict.fromkeys(columns[-1]))
        names = draw(st.lists(labels, min_size=len(below), max_size=len(below), unique=True))
        own = draw(st.lists(st.booleans(), min_size=len(below), max_size=len(below)))
        parents: dict[str, str] = {}
        for label, name, keeps in zip(below, names, own, strict=True):
            previous = draw(st.sampled_from([None, *parents.values()]))
            parents[label] = previous or (label if keeps else name)
        columns.append([parents[label] for label in columns[-1]])
    columns.append(["*"] * len(values))
    return list(zip(*columns, strict=True))


def tree_of(rows: Sequence[tuple[str, ...]]) -> Tree:
    return Tree.of_rows(rows)


def all_paths(tree: Tree) -> list[NodePath]:
    def below(node: Node, path: NodePath) -> list[NodePath]:
        inner = [below(child, (*path, child.label)) for child in node.children]
        return [path, *(each for paths in inner for each in paths)]

    return below(tree.root, ())


def nested(tree: Tree) -> Hierarchy:
    """The hierarchy of the tree, which `shoal.encode` refuses unless its levels are nested."""
    return Hierarchy.from_rows("city", tree.rows(), str)


def edited(draw: st.DrawFn, tree: Tree) -> Tree:
    """One edit, chosen at random; a refused one changes nothing."""
    paths = all_paths(tree)
    one, target = draw(st.sampled_from(paths)), draw(st.sampled_from(paths))
    several = draw(st.lists(st.sampled_from(paths), min_size=1, max_size=4))
    label, number = draw(labels), draw(st.integers(0, 4))
    children = [child.label for child in tree.at(one).children]
    members = draw(st.lists(st.sampled_from(children or [""]), max_size=4))
    edits = [
        lambda: tree.rename(one, label),
        lambda: tree.move(several, target),
        lambda: tree.gather(several, label),
        lambda: tree.merge(several, label),
        lambda: tree.split(one, members, label),
        lambda: tree.ungroup(one),
        lambda: tree.shift(one, number - 2),
        lambda: tree.add_level(number),
        lambda: tree.remove_level(number),
    ]
    with contextlib.suppress(BadHierarchy):
        return draw(st.sampled_from(edits))()
    return tree


@given(row_lists())
def test_a_hierarchy_becomes_a_tree_with_the_same_rows(rows: list[tuple[str, ...]]) -> None:
    try:
        hierarchy = Hierarchy.from_rows("city", rows, str)
    except BadHierarchy:
        return
    tree = Tree.of_rows(rows)
    assert set(tree.rows()) == set(rows)
    assert tree.height == hierarchy.height


@given(row_lists(), st.data())
@settings(max_examples=100, deadline=None)
def test_whatever_is_edited_each_value_is_covered_once_and_levels_are_nested(
    rows: list[tuple[str, ...]], data: st.DataObject
) -> None:
    try:
        tree = Tree.of_rows(rows)
    except BadHierarchy:
        return
    values = sorted(row[0] for row in rows)
    for _ in range(6):
        tree = edited(data.draw, tree)  # type: ignore[arg-type]
        hierarchy = nested(tree)
        assert sorted(hierarchy.labels[0]) == values
        assert len(hierarchy.labels[-1]) == 1
        kind = kind_of_mapping("city", tree_mapping(tree))
        assert list(kind.rows("city", {}).rows) == tree.rows()
        assert set(Tree.of_rows(tree.rows()).rows()) == set(tree.rows())


def test_a_group_is_renamed_and_a_value_is_not() -> None:
    tree = tree_of(CITIES).rename(("north", "Norway"), "Norge")
    assert ("Oslo", "Norge", "north", "*") in tree.rows()
    with pytest.raises(BadHierarchy, match="keeps its name"):
        tree.rename(("north", "Norge", "Oslo"), "Christiania")
    with pytest.raises(BadHierarchy, match="level 1 would be the same"):
        tree.rename(("north", "Norge"), "Italy")
    with pytest.raises(BadHierarchy, match="empty"):
        tree.rename(("north", "Norge"), "")


def test_a_moved_value_takes_the_labels_of_its_new_group_and_an_empty_group_goes() -> None:
    tree = tree_of(CITIES).move([("north", "Finland", "Turku")], ("south", "Italy"))
    assert ("Turku", "Italy", "south", "*") in tree.rows()
    assert ("north", "Finland") not in list(tree.group_paths())
    with pytest.raises(BadHierarchy, match="into itself"):
        tree.move([("north",)], ("north", "Norway"))
    with pytest.raises(BadHierarchy, match="nothing below"):
        tree.move([("north", "Norway")], ("south", "Italy", "Rome"))


def test_a_value_under_a_higher_group_repeats_itself_below_it() -> None:
    tree = tree_of(CITIES).move([("south", "Italy", "Rome")], ("north",))
    assert ("Rome", "Rome", "north", "*") in tree.rows()


def test_groups_are_merged_and_split_again() -> None:
    tree = tree_of(CITIES)
    merged = tree.merge([("north", "Norway"), ("north", "Finland")], "Nordic")
    assert [child.label for child in merged.at(("north", "Nordic")).children] == [
        "Oslo",
        "Bergen",
        "Turku",
    ]
    again = merged.split(("north", "Nordic"), ["Turku"], "Finland")
    assert again.rename(("north", "Nordic"), "Norway").rows() == tree.rows()
    with pytest.raises(BadHierarchy, match="neither is empty"):
        merged.split(("north", "Nordic"), [], "nobody")
    with pytest.raises(BadHierarchy, match="only groups"):
        merged.merge([("south", "Italy", "Rome"), ("south", "Italy", "Bari")], "Italy")


def test_values_that_are_only_suppressed_can_be_gathered_in_groups() -> None:
    tree = tree_of([("a", "*"), ("b", "*"), ("c", "*")])
    tree = tree.gather([("a",), ("b",)], tree.free_label())
    assert tree.rows() == [("a", "group 1", "*"), ("b", "group 1", "*"), ("c", "c", "*")]
    assert tree.free_label() == "group 2"
    assert tree.ungroup(("group 1",)).rows() == [("a", "*"), ("b", "*"), ("c", "*")]


def test_a_level_is_added_with_the_labels_below_and_removed() -> None:
    tree = tree_of(CITIES)
    more = tree.add_level(1)
    assert more.rows()[0] == ("Oslo", "Norway", "Norway", "north", "*")
    assert more.remove_level(2).rows() == tree.rows()
    assert tree.remove_level(1).rows()[0] == ("Oslo", "north", "*")
    assert tree.add_level(0).rows()[0] == ("Oslo", "Oslo", "Norway", "north", "*")
    for level in (0, 3, 7):
        with pytest.raises(BadHierarchy, match="last level stay"):
            tree.remove_level(level)
    with pytest.raises(BadHierarchy, match="above the last level"):
        tree.add_level(3)


def test_values_move_among_their_siblings_and_stay_at_the_ends() -> None:
    tree = tree_of(CITIES)
    down = tree.shift(("north", "Norway", "Oslo"), 1)
    assert [row[0] for row in down.rows()][:2] == ["Bergen", "Oslo"]
    assert down.shift(("north", "Norway", "Oslo"), 1) == down
    assert down.shift(("north", "Norway", "Oslo"), -5) == tree


def test_values_that_the_tree_lacks_are_added_under_a_group() -> None:
    tree = tree_of(CITIES).add_values(["Milan", "Rome"], ("south", "Italy"))
    assert [row[0] for row in tree.rows()].count("Rome") == 1
    assert ("Milan", "Italy", "south", "*") in tree.rows()


def test_several_labels_on_top_get_a_root() -> None:
    assert tree_of([("a", "x"), ("b", "y")]).rows() == [("a", "x", "*"), ("b", "y", "*")]
    assert tree_of([("a",), ("b",)]).rows() == [("a", "*"), ("b", "*")]


def test_odd_values_survive_the_way_through_a_definition_and_a_file(tmp_path: Path) -> None:
    tree = tree_of([(value, "*") for value in ODD]).gather([(ODD[0],), (ODD[1],)], "<b>odd</b>")
    mapping = {
        "source": "data.csv",
        "k": 2,
        "attributes": {"c": {"role": "quasi-identifier", "hierarchy": tree_mapping(tree)}},
    }
    definition = from_mapping(mapping)
    (tmp_path / "data.csv").touch()
    for name in ("yaml", "json", "xml"):
        (tmp_path / f"d.{name}").write_text(spelled(definition, name), encoding="utf-8")
        kind = read(tmp_path / f"d.{name}").attributes["c"].hierarchy
        assert kind is not None
        assert list(kind.rows("c", {}).rows) == tree.rows()
    assert fits_inline(tree)
    file = tmp_path / "c.csv"
    write_hierarchy(hierarchy_of_tree("c", tree), file)
    assert list(Csv(path=file).rows("c", {}).rows) == tree.rows()


@pytest.mark.parametrize("value", ["x" * 10_000, "a\nb", "a\x00b"])
def test_values_that_a_definition_cannot_hold_go_to_a_file(tmp_path: Path, value: str) -> None:
    tree = tree_of([(value, "*"), ("b", "*")])
    assert not fits_inline(tree)
    file = tmp_path / "c.csv"
    write_hierarchy(hierarchy_of_tree("c", tree), file)
    assert list(Csv(path=file).rows("c", {}).rows) == tree.rows()


def test_many_values_go_to_a_file() -> None:
    assert not fits_inline(tree_of([(str(i), "*") for i in range(501)]))


KINDS: list[tuple[Any, list[str]]] = [
    ("suppress", ["a", "b"]),
    ({"mask": 3}, ["123", "124", "224"]),
    ({"mask": [1, 2], "from": "left"}, ["123", "124", "224"]),
    ({"intervals": [5, 10], "bottom": 10, "top": 90}, ["3", "17", "44", "95"]),
    ({"cuts": [[18, 30, 65], [18, 65]]}, ["3", "17", "44", "95"]),
    ({"date": ["month", "year"]}, ["2020-01-03", "2020-02-03", "2021-02-03"]),
    ({"groups": [2, 4]}, ["ann", "bob", "cid", "dan", "eve"]),
    ({"tree": {"x": ["a", "b"], "y": {"z": ["c"], "d": None}}}, ["a", "b", "c", "d"]),
]


@pytest.mark.parametrize(("hierarchy", "values"), KINDS, ids=lambda each: str(each)[:20])
def test_every_kind_becomes_a_tree_with_the_same_levels(hierarchy: Any, values: list[str]) -> None:
    kind = kind_of_mapping("c", hierarchy)
    built = build("c", kind, dict.fromkeys(values, 1))
    tree = Tree.of_rows(list(built.rows()))
    again = build("c", kind_of_mapping("c", tree_mapping(tree)), dict.fromkeys(values, 1))
    assert set(again.rows()) == set(built.rows())


def test_mistakes_in_a_hierarchy_are_those_of_a_definition() -> None:
    with pytest.raises(BadDefinition) as found:
        kind_of_mapping("age", {"intervals": [5, 7]})
    assert [mistake.key for mistake in found.value.mistakes] == [
        "attributes.age.hierarchy.intervals"
    ]
    assert "no multiple" in str(found.value)


def test_levels_count_the_records_of_each_label() -> None:
    levels, _ = levels_of(
        "age", kind_of_mapping("age", {"intervals": [10]}), {"11": 5, "12": 1, "25": 3}, missing=2
    )
    assert [level.labels for level in levels.levels] == [3, 2, 1]
    assert levels.levels[1].shown == (("[10,20)", 6), ("[20,30)", 3))
    assert levels.levels[2].shown == (("*", 9),)
    assert (levels.values, levels.records, levels.missing) == (3, 9, 2)
    assert levels.covered
    assert Levels.from_json(levels.as_json()) == levels


def test_only_the_most_frequent_labels_are_listed_and_long_ones_are_cut() -> None:
    counts = {f"{'x' * 9_000}{i}": i for i in range(1, 201)}
    levels, _ = levels_of("c", kind_of_mapping("c", "suppress"), counts, missing=0)
    assert len(levels.levels[0].shown) == SHOWN
    assert levels.levels[0].more == 150
    assert {count for _, count in levels.levels[0].shown} == set(range(151, 201))
    assert max(len(label) for label, _ in levels.levels[0].shown) == 200


@pytest.mark.parametrize(
    "hierarchy", [{"tree": {"x": ["a", "b"]}}, {"intervals": [10]}, {"date": ["year"]}]
)
def test_values_that_are_not_covered_are_listed_beside_the_levels_of_the_others(
    hierarchy: Any,
) -> None:
    counts = {"a": 1, "?": 7, "5": 2, "2020-01-01": 1}
    levels, built = levels_of("c", kind_of_mapping("c", hierarchy), counts, missing=0)
    assert not levels.covered
    assert levels.problem is not None
    assert levels.problem.code == "uncovered-value"
    assert levels.uncovered == 3
    assert levels.uncovered_shown[0] == ("?", 7)
    assert built is not None
    assert levels.levels[0].labels == 1


def test_a_hierarchy_that_cannot_be_built_has_a_problem_and_no_levels() -> None:
    kind = kind_of_mapping("c", {"tree": {"x": {"l": ["a"]}, "y": {"l": ["b"]}}})
    levels, built = levels_of("c", kind, {"a": 1}, missing=0)
    assert (levels.levels, built) == ((), None)
    assert levels.problem is not None
    assert levels.problem.code == "not-nested"


def test_every_proposal_has_a_reason() -> None:
    cases = {
        ("17", "44", "90"): "number",
        ("01234", "99999"): "code of 5 digits",
        ("a12", "b34"): "letters and digits",
        ("2020-01-01", "2020-01-02", "2021-01-01"): "date",
        ("red", "blue"): "texts",
        ("1", "2"): "close together",
        (): "no values",
    }
    for values, word in cases.items():
        assert word in reason(values, propose(values))


def test_a_tree_of_five_thousand_values_is_edited_at_once() -> None:
    tree = tree_of([(str(i), f"t{i // 50}", f"h{i // 500}", "*") for i in range(5_000)])
    tree = tree.move([("h0", "t0", "7")], ("h9", "t99")).rename(("h3",), "third")
    assert tree.root.values == 5_000
    assert len(nested(tree).labels[1]) == 100


def test_an_outline_shows_what_is_below_open_groups() -> None:
    tree = tree_of(CITIES)
    assert [row.node.label for row in outline(tree, {(), ("south",)})] == [
        "*",
        "north",
        "south",
        "Italy",
    ]
    assert open_at_first(tree) == set(tree.group_paths())
    large = tree_of([(str(i), f"t{i // 50}", "*") for i in range(5_000)])
    assert open_at_first(large) == {()}


def test_a_search_in_the_outline_shows_what_is_above_each_find() -> None:
    rows = outline(tree_of(CITIES), set(), "ROM")
    assert [(row.node.label, row.depth) for row in rows] == [
        ("*", 0),
        ("south", 1),
        ("Italy", 2),
        ("Rome", 3),
    ]


def test_records_of_a_group_are_those_of_its_values() -> None:
    tree = tree_of(CITIES)
    records = records_under(tree, {"Oslo": 3, "Turku": 4})
    assert records[id(tree.root)] == 7
    assert records[id(tree.at(("north", "Norway")))] == 3
    assert records[id(tree.at(("south",)))] == 0


cut_lists = st.lists(st.integers(0, 60), min_size=2, max_size=8, unique=True).map(
    lambda points: (tuple(map(float, sorted(points))), tuple(map(float, sorted(points)[1::2])))
)


@given(cut_lists, st.integers(0, 1), st.integers(-5, 65), st.integers(-5, 65))
def test_edited_cut_points_stay_nested(
    cuts: cut_points.Cuts, level: int, point: int, to: int
) -> None:
    edited_cuts = [
        cut_points.add_point(cuts, level, point),
        cut_points.remove_point(cuts, level, cuts[level][0]),
        cut_points.move_point(cuts, cuts[level][0], to),
        cut_points.add_level(cuts),
        cut_points.remove_level(cuts, level),
    ]
    for levels in edited_cuts:
        for below, above in pairwise(levels):
            assert set(above) <= set(below)
            assert list(above) == sorted(set(above))


def test_first_cut_points_are_round_and_inside_the_range() -> None:
    ages = {str(age): 1 for age in range(100)}
    assert cut_points.first_points(ages) == ((25.0, 50.0, 75.0), (50.0,))
    assert cut_points.first_points({"a": 1}) == ((0.0,),)
    assert cut_points.first_points({"7": 1}) == ((7.0,),)
    assert cut_points.snapped(0.30000000000000004, 0.1) == 0.3


def test_a_histogram_counts_every_number_once() -> None:
    bars = cut_points.histogram({"1": 2, "2": 3, "x": 9, "11": 5}, bars=10)
    assert [count for _, _, count in bars] == [2, 3, 0, 0, 0, 0, 0, 0, 0, 5]
    assert (bars[0][0], bars[-1][1]) == (1, 11)
    assert cut_points.histogram({"x": 1}) == []


@pytest.mark.parametrize("kind", ["mask", "cuts", "groups", "intervals", "date", "suppress"])
def test_every_kind_has_a_sound_hierarchy_to_start_from(kind: str) -> None:
    for values in (["1", "22", "333"], ["a", "b"], ["2020-01-01"], []):
        kind_of_mapping("c", first_of_kind(kind, dict.fromkeys(values, 1)))


def uploaded(tmp_path: Path, content: str) -> dict[str, Any]:
    """The result of the task that reads an uploaded file."""
    upload = tmp_path / "incoming-1"
    upload.write_text(content, encoding="utf-8")
    folder = tmp_path / "job"
    folder.mkdir()
    context = Context(folder, lambda _: None, lambda *_: None, 1 << 30)
    arguments = {"path": str(upload), "name": "../my regions.csv", "column": "city"}
    return hierarchy_file.run(arguments, context)


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
def test_an_uploaded_file_is_read_with_any_usual_delimiter(tmp_path: Path, delimiter: str) -> None:
    found = uploaded(tmp_path, f"a{delimiter}x{delimiter}*\nb{delimiter}y{delimiter}*\n")
    assert found == {"values": 2, "height": 2, "single_top": True}
    written = (tmp_path / "job" / hierarchy_file.FILE).read_text(encoding="utf-8")
    assert written == "a;x;*\nb;y;*\n"
    assert [file.name for file in (tmp_path / "job").iterdir()] == [hierarchy_file.FILE]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "empty-hierarchy"),
        ("a;x\nb\n", "ragged-hierarchy"),
        ("a\nb\n", "unreadable-hierarchy"),
        ("a;x;y\nb;x;z\n", "not-nested"),
        ("a;" + "x;" * 200 + "*\n", "large-hierarchy"),
    ],
)
def test_a_bad_file_is_refused_by_its_owners_name_and_no_path(
    tmp_path: Path, content: str, code: str
) -> None:
    with pytest.raises(BadHierarchy) as found:
        uploaded(tmp_path, content)
    assert found.value.code == code
    assert "my regions.csv" in found.value.what
    assert str(tmp_path) not in str(found.value)
    assert list((tmp_path / "job").iterdir()) == []
