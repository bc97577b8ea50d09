"""Catalogs and requests with anything anywhere are read or refused with mistakes, no crash."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mart_catalogs import CLINIC
from shoal.errors import BadDefinition, Mistake
from shoal.mart.read import catalog_from_mapping, read_catalog, request_from_mapping
from shoal.mart.write import spelled

REQUEST: dict[str, Any] = {
    "asker": "anna",
    "project": ["PT", "genes.*"],
    "select": ["PT = 1", {"age": {">=": "40"}}],
    "k": "3",
    "suppression": "1%",
    "scope": "joint",
    "search": {"strategy": "box"},
    "loss": "weighted",
    "priorities": {"PT": "0.5"},
    "limits": {"PT": "1"},
    "diversity": {"distinct": "2"},
    "output": {"path": "out.csv"},
}
FULL: dict[str, Any] = {
    **CLINIC,
    "policy": {"k": "3", "apart": [["PT", "sex"]], "diversity": {"distinct": "2"}, "share": "1"},
    "missing": {"match": "basic"},
    "engine": {"threads": "2"},
}
ODD = st.one_of(
    st.none(),
    st.sampled_from(["", ".", "*", "-1", "1e999", "nan", "\0", "a.b", "many-to-many", "PT = 1"]),
    st.text(max_size=5),
    st.sampled_from(
        [[], {}, [[]], {"": ""}, [None], {"path": None}, True, 7, -0.5, {"a": {"b": []}}]
    ),
)


def paths(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(data, dict):
        for key, value in data.items():
            yield from paths(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from paths(value, (*path, index))


def with_odd(data: Any, path: tuple[Any, ...], odd: Any, *, add: bool) -> Any:
    """The data with an odd value at a path, or beside the key that the path ends with."""
    data = copy.deepcopy(data)
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    if add and isinstance(holder, dict):
        holder[str(odd)] = holder[path[-1]]
    else:
        holder[path[-1]] = odd
    return data


@pytest.mark.slow
@pytest.mark.parametrize("whole", [FULL, REQUEST])
@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_anything_anywhere_is_read_or_refused(
    tmp_path: Path, whole: dict[str, Any], data: st.DataObject
) -> None:
    given_data = whole
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from([each for each in paths(given_data) if each]))
        given_data = with_odd(given_data, path, data.draw(ODD), add=data.draw(st.booleans()))
    read = catalog_from_mapping if whole is FULL else request_from_mapping
    for mistake in mistakes(lambda: spelled(read(given_data, tmp_path), "yaml")):
        assert mistake.what
        assert mistake.remedy


def mistakes(step: Callable[[], object]) -> tuple[Mistake, ...]:
    """The mistakes that a step is refused with; none if it succeeds."""
    try:
        step()
    except BadDefinition as error:
        return error.mistakes
    return ()


XML = spelled(catalog_from_mapping(FULL, Path("/data")), "xml")


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=st.integers(0, len(XML)), length=st.integers(0, 30), text=st.text(max_size=8))
def test_broken_xml_is_read_or_refused(tmp_path: Path, start: int, length: int, text: str) -> None:
    path = tmp_path / "mart.xml"
    broken = XML[:start] + text + XML[start + length :]
    path.write_bytes(broken.encode("utf-8", "surrogatepass"))
    assert all(mistake.what for mistake in mistakes(lambda: read_catalog(path)))
