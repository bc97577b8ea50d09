"""A search for a local recoding that is kept, seen beside its source, and released later."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import shoal
from recoding.test_local_release import NAMES, definition_in, released, write_table
from shoal.analysis.best_node import BestNode, find_best
from shoal.analysis.side_by_side import side_by_side
from shoal.errors import BadData, UserError
from shoal.events import Event, Improved
from shoal.report.result import to_dict
from shoal.steps.kept_search import KeptSearch, read_kept_search

FEW: dict[str, Any] = {"suppression": "5%"}


def kept_in(
    folder: Path, observe: Any = None, records: int = 200, **keys: Any
) -> tuple[dict[str, Any], BestNode, KeptSearch]:
    """A definition on a small table, what its search found, and the kept search."""
    write_table(folder, records, missing=True)
    mapping = definition_in(folder, **keys)
    options = {} if observe is None else {"observe": observe}
    best = find_best(mapping, keep=folder / "kept.npz", **options)
    return mapping, best, read_kept_search(folder / "kept.npz")


def interrupt(event: Event) -> None:
    """Stop at the first recoding, as a person does."""
    if isinstance(event, Improved):
        raise KeyboardInterrupt


def test_a_kept_search_releases_what_a_run_finds(tmp_path: Path) -> None:
    mapping, best, kept = kept_in(tmp_path, **FEW)
    again = shoal.run(mapping, kept=kept)
    text = (tmp_path / "release.csv").read_bytes()
    found = shoal.run(mapping)
    assert (tmp_path / "release.csv").read_bytes() == text
    assert (best.recoding, best.levels) == ("local", again.levels)
    assert (again.loss, again.bound, again.classes) == (found.loss, found.bound, found.classes)
    assert (best.loss, best.bound, best.gap) == (found.loss, found.bound, found.gap)
    assert list(again.progress) == list(best.progress)
    assert best.losses == {name: each.loss for name, each in again.treatments.items()}


@pytest.mark.parametrize(
    "keys",
    [{"person": "name"}, {"engine": {"tuples": 2900}, "records": 3000}],
    ids=["persons", "raised"],
)
def test_persons_and_raised_tables_are_kept_compared_and_released(
    tmp_path: Path, keys: dict[str, Any]
) -> None:
    mapping, best, kept = kept_in(tmp_path, **keys)
    shown = side_by_side(mapping, kept=kept)
    result = shoal.run(mapping, kept=kept)
    assert result.verified
    assert (bool(result.raised), result.persons is not None) == (
        "engine" in keys,
        "person" in keys,
    )
    assert (best.levels, shown.levels) == (result.levels, result.levels)
    assert (best.loss, best.bound) == (result.loss, result.bound)
    rows = Counter(tuple(row[name] for name in NAMES) for row in released(tmp_path))
    for each in shown.sample:
        assert rows[tuple(label or "" for label in each.labels)] == each.records


def test_a_stopped_search_is_released_as_it_was_seen(tmp_path: Path) -> None:
    mapping, best, kept = kept_in(tmp_path, interrupt, **FEW)
    assert (best.proved, best.ended) == (False, "interrupted")
    result = shoal.run(mapping, kept=kept)
    assert result.verified
    assert (result.loss, result.levels, result.classes) == (best.loss, best.levels, best.classes)
    assert result.gap > 0
    assert shoal.run(mapping).loss < result.loss


@pytest.mark.parametrize(
    "keys",
    [{"k": 4}, {"suppression": "1%"}, {"recoding": "full-domain"}, {"loss": "precision"}],
    ids=["k", "suppression", "recoding", "loss"],
)
def test_a_kept_search_is_refused_for_another_definition(
    tmp_path: Path, keys: Mapping[str, Any]
) -> None:
    mapping, _, kept = kept_in(tmp_path, **FEW)
    with pytest.raises(BadData) as error:
        shoal.run({**mapping, **keys}, kept=kept)
    assert error.value.code == "source-changed"
    assert not (tmp_path / "release.csv").exists()


def test_a_kept_search_is_refused_for_another_table(tmp_path: Path) -> None:
    mapping, _, kept = kept_in(tmp_path)
    path = tmp_path / "data.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines, lines[-1]]), encoding="utf-8")
    with pytest.raises(BadData) as error:
        shoal.run(mapping, kept=kept)
    assert error.value.code == "source-changed"
    assert not (tmp_path / "release.csv").exists()


def test_side_by_side_shows_the_classes_and_labels_that_are_released(tmp_path: Path) -> None:
    mapping, best, kept = kept_in(tmp_path, **FEW)
    hidden, shown = (side_by_side(mapping, kept=kept, raw=raw) for raw in (False, True))
    shoal.run(mapping, kept=kept)
    rows = [tuple(row[name] for name in NAMES) for row in released(tmp_path)]
    truth = Counter(rows)
    assert hidden.levels == best.levels
    assert (hidden.classes, hidden.hidden) == (len(truth), best.suppressed)
    for each in hidden.sample:
        assert truth[tuple(label or "" for label in each.labels)] == each.records
        assert not each.examples
    assert hidden.sample[0].records == max(truth.values())
    assert hidden.after is not None
    assert hidden.after.smallest_class == min(truth.values())
    with (tmp_path / "data.csv").open(newline="", encoding="utf-8") as file:
        source = Counter(tuple(row[name] for name in NAMES) for row in csv.DictReader(file))
    for each in shown.sample:
        for example in each.examples:
            assert source[tuple(value or "" for value in example.values)] == example.records
    for number, column in enumerate(hidden.columns):
        labels = Counter(row[number] for row in rows)
        named = {bar.label or "": bar.after for bar in column.released if not bar.others}
        assert named == labels
        assert column.labels == len(labels)
        assert column.records_at == best.levels[column.name]
        assert column.examples is not None
        assert all(labels[each or ""] >= 5 for each in column.examples.values())
        assert sum(bar.after for bar in column.original) == len(rows)
        assert all(bar.after >= 5 for bar in column.original if not bar.others)


def test_a_local_definition_is_not_compared_at_a_node(tmp_path: Path) -> None:
    mapping, _, _ = kept_in(tmp_path)
    with pytest.raises(UserError) as error:
        side_by_side(mapping, dict.fromkeys(NAMES, 1))
    assert error.value.code == "full-domain-only"


def test_what_a_search_found_is_plain_json(tmp_path: Path) -> None:
    mapping, best, kept = kept_in(tmp_path)
    plain = json.loads(json.dumps(best.to_dict()))
    result = json.loads(json.dumps(to_dict(shoal.run(mapping, kept=kept))))
    assert plain["levels"] == result["levels"]
    assert 0 < plain["precision"] < 1
