"""What `shoal.anonymize` and the other functions take: roles, demands, and words that are near."""

from __future__ import annotations

import inspect
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest

import shoal
from shoal.calling.near_misses import NEAR_MISSES
from shoal.calling.stated_roles import attributes_of

PEOPLE = pd.DataFrame(
    {
        "zip": ["10115"] * 4 + ["80331"] * 4,
        "k": [1, 2, 3, 4] * 2,
        "illness": list("abcdabcd"),
        "name": list("stuvwxyz"),
    }
)


def release(**arguments: Any) -> Any:
    stated = {"quasi_identifiers": ["zip"], "k": 2, "others": "drop", "with_result": True}
    return shoal.anonymize(PEOPLE, **{**stated, **arguments})


def test_each_role_has_an_argument() -> None:
    frame, result = release(
        sensitive="illness", identifiers=["name"], keep="k", others=None, drop=()
    )
    assert list(frame.columns) == ["zip", "k", "illness"]
    assert [demand.demanded for demand in result.privacy] == ["k >= 2", "distinct l >= 2"]
    assert list(release(drop=["k", "name", "illness"], others=None)[0].columns) == ["zip"]


@pytest.mark.parametrize(
    ("demand", "said"),
    [
        (3, ["distinct l >= 3"]),
        ({"diversity": {"distinct": 3}}, ["distinct l >= 3"]),
        ({"closeness": 0.5}, ["t <= 0.5 (equal distance)"]),
        ({"alpha": 0.5, "diversity": {"entropy": 2}}, ["entropy l >= 2", "alpha <= 0.5"]),
    ],
)
def test_a_sensitive_column_has_a_short_demand_or_that_of_a_definition(
    demand: Any, said: list[str]
) -> None:
    _, result = release(sensitive={"illness": demand})
    assert [each.demanded for each in result.privacy[1:]] == said


@pytest.mark.parametrize(
    ("demand", "pointer"),
    [
        ({"l": 3}, "write sensitive={'illness': 3}"),
        ({"t": 0.2}, """write sensitive={'illness': {"closeness": 0.2}}"""),
        ({"closenes": 0.2}, "did you mean 'closeness'?"),
        (0.2, "float is no demand; write {'illness': 3} for 3 different values"),
        (1, "must be at least 2"),
        (True, "bool is no demand"),
    ],
)
def test_a_demand_that_is_none_points_at_the_right_one(demand: Any, pointer: str) -> None:
    with pytest.raises(shoal.BadDefinition) as caught:
        release(sensitive={"illness": demand})
    assert pointer in caught.value.what


@pytest.mark.parametrize("word", [*NEAR_MISSES, "QI", "others_", "suppresion", "anything"])
def test_a_word_that_is_no_argument_points_at_the_right_one(word: str) -> None:
    with pytest.raises(shoal.BadDefinition) as caught:
        release(**{word: 3})
    assert f"anonymize: 1 mistake\n  {word}: is no parameter; " in caught.value.what
    pointed = caught.value.mistakes[0].remedy
    assert any(
        name in pointed for name in (*inspect.signature(shoal.anonymize).parameters, "leave")
    )


def test_no_pointer_stands_for_an_argument_that_exists() -> None:
    assert set(NEAR_MISSES).isdisjoint(inspect.signature(shoal.anonymize).parameters)


def test_arguments_without_a_name_are_named_in_the_error() -> None:
    with pytest.raises(shoal.BadDefinition, match="only 'frame', 'quasi_identifiers' can be given"):
        shoal.anonymize(PEOPLE, ["zip"], 5)  # type: ignore[call-overload]
    with pytest.raises(shoal.BadDefinition, match="did you mean 'quasi_identifiers'"):
        shoal.check(PEOPLE, quasi_identifier=["zip"])  # type: ignore[call-arg]
    with pytest.raises(shoal.BadDefinition, match="records in memory go to"):
        shoal.run(PEOPLE)
    with pytest.raises(shoal.BadDefinition, match="quasi_identifiers: are missing; name what"):
        shoal.risk(PEOPLE)
    with pytest.raises(shoal.BadData, match=r"shoal\.run releases files") as caught:
        shoal.anonymize("people.csv", ["zip"])  # type: ignore[call-overload]
    assert caught.value.code == "not-a-frame"


def test_a_column_has_one_role() -> None:
    with pytest.raises(shoal.BadDefinition) as caught:
        release(sensitive={"zip": 2}, keep=["name"], identifiers="name")
    assert [mistake.key for mistake in caught.value.mistakes] == ["zip", "name"]
    assert "quasi_identifiers and sensitive" in caught.value.what


def test_a_setting_of_the_search_is_said_once() -> None:
    assert release(time_limit="5min", search={"strategy": "ola"})[1].strategy == "ola"
    with pytest.raises(shoal.BadDefinition, match="time limit: is in search too"):
        release(time_limit=60, search={"time limit": 60})


def test_names_of_columns_may_be_those_of_arguments() -> None:
    frame, _ = release(quasi_identifiers={"k": None}, keep="zip")
    assert sorted(frame.columns) == ["k", "zip"]


def test_every_way_to_give_names_means_the_same() -> None:
    given: list[Any] = ["zip", ["zip"], ("zip",), pd.Index(["zip"]), (n for n in ["zip"])]
    for names in [*given, {"zip": None}]:
        stated = attributes_of(names, (), person=(), others={})
        assert stated == {"zip": {"role": "quasi-identifier"}}
    assert attributes_of(0, (), person=(), others={}) == {"0": {"role": "quasi-identifier"}}
