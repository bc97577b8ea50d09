"""Requests one after the other, and at once: nothing is released that overlaps unseen."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mart.clinic import Clinic, clinic
from mart.overlap_oracle import ReleaseSpec, Tables, overlaps_of_all, overlaps_of_two, recipe_of
from mart.test_overlap import USED, counts, mart
from mart.test_overlap_sources import logged, written
from shoal import mart as marts
from shoal.errors import Infeasible, Refused, UserError
from shoal.mart.catalog import Catalog, ColumnRef
from shoal.mart.overlap import Overlap
from shoal.mart.recipe import Recipe


def random_spec(chance: random.Random) -> ReleaseSpec:
    sources = chance.choice(USED)
    mine = [ColumnRef(source, name) for source in sources for name in "xy"]
    columns = tuple(sorted(chance.sample(mine, chance.randrange(1, 3))))
    only = {}
    if chance.random() < 0.5:
        values = frozenset(chance.sample("abcd", chance.randrange(1, 4)))
        only[chance.choice(mine)] = chance.choice([values, frozenset([None])])
    return ReleaseSpec(
        sources=sources,
        columns=columns,
        levels={},
        only=only,
        k=chance.choice([2, 2, 3]),
        scope=chance.choice(["source", "joint"]),
        complete=False,
    )


def ask(
    catalog: Catalog, spec: ReleaseSpec, tables: Tables, output: Path
) -> marts.MartResult | None:
    """The answer to a request; None where it is refused for another reason than an overlap."""
    request: Mapping[str, Any] = {
        "project": [str(ref) for ref in spec.columns],
        "select": [str(each) for each in logged(tables, _used(spec)).conditions],
        "k": spec.k,
        "scope": spec.scope,
        "suppression": "60%",
    }
    try:
        return marts.request(catalog, request, output=output)
    except (Refused, Infeasible, UserError) as error:
        if error.code not in ALLOWED:
            raise
        return None


ALLOWED = {
    *("few-persons", "infeasible", "removal-spreads", "rows-tied"),
    *("unknown-value", "no-solution", "policy", "all-missing"),
}


def _used(spec: ReleaseSpec) -> ReleaseSpec:
    """The request with a level for each column, so that its conditions can be written down."""
    return replace(spec, levels=dict.fromkeys(spec.columns, 2))


@pytest.mark.slow
@settings(max_examples=4)
@given(seed=st.integers(0, 2**32))
def test_what_requests_say_of_overlaps_is_what_the_oracle_says(seed: int) -> None:
    chance, tables = random.Random(seed), mart(seed)
    with TemporaryDirectory() as folder:
        catalog = written(tables, Path(folder))
        policy = catalog.policy.model_copy(update={"overlap": "report", "suppression": 0.6})
        catalog = catalog.model_copy(update={"policy": policy})
        before: list[ReleaseSpec] = []
        for number in range(4):
            spec = random_spec(chance)
            result = ask(catalog, spec, tables, Path(folder, f"{number}.csv"))
            if result is None:
                continue
            recipe = Recipe.from_json(marts.log(catalog).entries[-1].recipe or {})
            done = replace(
                spec,
                sources=recipe.sources,
                levels=dict(recipe.levels),
                optional=recipe.optional,
                tied=recipe.tied,
            )
            assert by_labels(recipe) == by_labels(logged(tables, done))
            check(tables, done, before, result.overlaps)
            before.append(done)


def by_labels(recipe: Recipe) -> Recipe:
    """The recipe with its classes, sources and columns in one order."""
    return replace(
        recipe,
        sources=tuple(sorted(recipe.sources)),
        classes={
            group: tuple(sorted(classes, key=repr)) for group, classes in recipe.classes.items()
        },
    )


def check(
    tables: Tables, new: ReleaseSpec, old: list[ReleaseSpec], found: tuple[Overlap, ...]
) -> None:
    """Compare with the oracle; releases with the same recipe are compared once."""
    recipes = [by_labels(recipe_of(tables, each)).to_json() for each in (*old, new)]
    distinct = {repr(recipe): each for recipe, each in zip(recipes, (*old, new), strict=True)}
    others = [each for text, each in distinct.items() if text != repr(recipes[-1])]
    pairs = [overlaps_of_two(tables, new, each) for each in others]
    expected = [counts_ for counts_ in pairs if counts_]
    if not expected and len(others) > 1:
        together = overlaps_of_all(tables, new, others)
        assert counts(found) == together
        return
    by_entry: dict[tuple[int, ...], list[Overlap]] = {}
    for each in found:
        by_entry.setdefault(each.earlier, []).append(each)
    assert [counts(each) for each in by_entry.values()] == expected


@pytest.fixture
def two_kinds(tmp_path: Path) -> Clinic:
    """Eight men and a woman: a release of all and one of the men differ by the woman."""
    people = [("m", "I25", [("1a", 30)], "AB"[i % 2]) for i in range(8)]
    return clinic(tmp_path, [*people, ("f", "I25", [("1a", 30)], "A")])


@pytest.mark.slow
def test_two_requests_at_once_are_compared_with_each_other(two_kinds: Clinic) -> None:
    """Both are answered while the other is: only one of them may be released."""
    two_kinds.write()
    catalog = two_kinds.catalog
    ready = threading.Barrier(2)
    done: list[str] = []

    def observe(event: object) -> None:
        """Both have been compared with what the log had, and wait for each other."""
        if getattr(event, "name", "") == "release":
            with suppress(threading.BrokenBarrierError):
                ready.wait(timeout=30)

    def request(name: str, select: list[str]) -> None:
        given = {"asker": "oncology", "project": ["PT"], "select": select}
        try:
            marts.request(catalog, given, output=two_kinds.folder / name, observe=observe)
            done.append("released")
        except Refused as error:
            done.append(error.code)

    threads = [
        threading.Thread(target=request, args=("all.csv", [])),
        threading.Thread(target=request, args=("men.csv", ["sex = m"])),
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(done) == ["overlap", "released"]
    assert sorted(entry.kind for entry in two_kinds.entries) == ["refused", "released"]
    assert sum((two_kinds.folder / name).exists() for name in ("all.csv", "men.csv")) == 1
