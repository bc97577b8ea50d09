"""A search for which memory has no room is refused before it begins, or has fewer threads."""

from __future__ import annotations

import os
import random
import re
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest

import shoal
from shoal.definition.read import from_mapping
from shoal.engines.frames.source import open_frame
from shoal.pipeline import prepare
from shoal.search.compiled.structures import Arrays, Layout
from shoal.steps.search_memory import needs, within_memory

RECORDS = 12_000
QUASI = {"age": {"intervals": [5, 10, 20]}, "zip": {"mask": [1, 2, 3, 5]}, "sex": "suppress"}


def people(records: int = RECORDS) -> pd.DataFrame:
    rng = random.Random(7)
    rows = [
        (rng.randrange(90), f"{rng.randrange(9999):05}", rng.choice("fm")) for _ in range(records)
    ]
    return pd.DataFrame(rows, columns=list(QUASI))


def anonymized(memory: str, **options: Any) -> shoal.Result:
    made = shoal.anonymize(
        people(),
        QUASI,
        k=5,
        engine={"memory limit": memory, "tuples": RECORDS},
        with_result=True,
        **options,
    )
    return made[1]


@pytest.mark.parametrize("recoding", ["full-domain", "local"])
def test_a_search_that_does_not_fit_is_refused_with_estimate_limit_and_remedy(
    recoding: Any,
) -> None:
    with pytest.raises(shoal.BadData) as refused:
        anonymized("4 MB", recoding=recoding)
    assert refused.value.code == "search-needs-memory"
    said = re.search(r"may need ([\d.]+) MB of memory, and 4\.0 MB are allowed", str(refused.value))
    assert said is not None
    assert 4 < float(said[1]) < 30
    assert "`from`" in refused.value.hint


def test_stated_threads_that_do_not_fit_are_refused_with_a_number_that_fits() -> None:
    with pytest.raises(shoal.BadData, match="may need") as refused:
        anonymized("64 MB", search={"threads": 500})
    fits = re.search(r"threads: (\d+)}", refused.value.hint)
    assert fits is not None
    assert anonymized("64 MB", search={"threads": int(fits[1])}).status == "optimal"


def test_without_a_stated_number_as_many_threads_search_as_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 500)
    definition = from_mapping({"source": "frame", "k": 5, "attributes": attributes(), **engine()})
    with open_frame(people()) as source:
        prepared = prepare(definition, source, file="definition")
    assert 1 <= (within_memory(prepared).threads or 0) < 500


def attributes() -> dict[str, Any]:
    return {name: {"role": "quasi-identifier", "hierarchy": h} for name, h in QUASI.items()}


def engine() -> dict[str, Any]:
    return {"engine": {"memory limit": "64 MB", "tuples": RECORDS}}


def test_the_estimate_is_the_sum_of_the_arrays_of_the_compiled_searches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All are allocated at once: no search takes more, whatever it finds."""
    allocated: dict[str, int] = {}

    def counted(layout: Layout, *arguments: Any) -> Arrays:
        made = allocate(layout, *arguments)
        allocated[layout.name] = sum(array.nbytes for array in made.values())
        return made

    allocate = Layout.allocate
    monkeypatch.setattr(Layout, "allocate", counted)
    definition = from_mapping({"source": "frame", "k": 5, "attributes": attributes()})
    few = people(1_000)
    with open_frame(few) as source:
        problem = prepare(definition, source, file="definition", local=True).problem
    shared, each = needs(problem, local=False)
    with_local, _ = needs(problem, local=True)
    shoal.anonymize(few, QUASI, k=5, recoding="local", effort="low", search={"threads": 1})
    assert allocated["State"] <= each + shared <= 2 * allocated["State"]
    assert allocated["Local"] <= with_local - shared <= 2 * allocated["Local"]
