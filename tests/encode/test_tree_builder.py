"""Hierarchies written as trees in a definition."""

from typing import Any

import pytest

from shoal.definition.model import Taxonomy
from shoal.encode.hierarchy import Hierarchy, build
from shoal.errors import BadHierarchy


def trees(tree: dict[str, Any], *values: str) -> Hierarchy:
    return build("stage", Taxonomy(tree=tree), dict.fromkeys(values, 1))


def test_a_leaf_near_the_root_repeats_itself_from_the_bottom_up() -> None:
    tree = {"[1-2]": {"1": ["1a", "1b", "1c"], "2": [2]}, "[3-4]": ["3", "4"]}
    assert list(trees(tree, "1b", "4").rows()) == [
        ("1a", "1", "[1-2]", "*"),
        ("1b", "1", "[1-2]", "*"),
        ("1c", "1", "[1-2]", "*"),
        ("2", "2", "[1-2]", "*"),
        ("3", "3", "[3-4]", "*"),
        ("4", "4", "[3-4]", "*"),
    ]


def test_a_tree_with_one_root_needs_no_top() -> None:
    assert trees({"any": {"x": ["a"], "y": ["b"]}}).labels[-1] == ("any",)


def test_leaves_may_be_bare_texts_and_lists_may_hold_branches() -> None:
    assert list(trees({"x": "a", "y": ["b", {"z": ["c", ["d"]]}]}).rows()) == [
        ("a", "a", "x", "*"),
        ("b", "b", "y", "*"),
        ("c", "z", "y", "*"),
        ("d", "z", "y", "*"),
    ]


@pytest.mark.parametrize("nothing", [None, "", {}, []])
def test_a_key_with_nothing_under_it_is_a_leaf(nothing: object) -> None:
    assert list(trees({"x": {"a": nothing, "b": nothing}}).rows()) == [("a", "x"), ("b", "x")]


def test_a_repeated_leaf_is_refused() -> None:
    with pytest.raises(BadHierarchy) as caught:
        trees({"x": ["a", "b"], "y": ["b"]})
    assert caught.value.code == "value-twice"


def test_a_label_in_two_branches_is_refused() -> None:
    with pytest.raises(BadHierarchy) as caught:
        trees({"x": {"other": ["a"]}, "y": {"other": ["b"]}})
    assert caught.value.code == "not-nested"
    assert "leaf 'a'" in caught.value.what
    assert "one branch only" in caught.value.hint


def test_a_leaf_that_is_the_label_of_another_branch_is_refused() -> None:
    with pytest.raises(BadHierarchy) as caught:
        trees({"x": {"3": ["a"]}, "y": ["3"]})
    assert caught.value.code == "not-nested"


def test_a_tree_of_ten_levels_is_read() -> None:
    tree: Any = ["leaf", "other"]
    for level in range(1, 11):
        tree = {f"level {level}": tree}
    assert trees(tree).height == 10
