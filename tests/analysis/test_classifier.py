"""A column predicted from the release and from the source."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import shoal
from shoal.analysis import classifier
from shoal.cli.app import app
from shoal.errors import MissingExtra, UserError

ATTRIBUTES: dict[str, Any] = {
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 2}},
    "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
    "ill": "keep",
    "name": "identifier",
}


def write(folder: Path, rows: Sequence[tuple[str, ...]], **keys: Any) -> dict[str, Any]:
    """The rows as a source, and a definition that releases it."""
    with (folder / "in.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("zip", "sex", "ill", "name"), *rows])
    places = {"source": str(folder / "in.csv"), "output": str(folder / "out.csv")}
    return {**places, "k": 5, "suppression": "20%", "attributes": ATTRIBUTES, **keys}


def some_rows() -> list[tuple[str, ...]]:
    chance = random.Random(1)
    rows = []
    for i in range(300):
        place, sex = chance.choice(["11", "12", "21", "22"]), chance.choice("fm")
        ill = (
            "flu" if (place[0] == "1") == (chance.random() < 0.8) else chance.choice(["no", "gout"])
        )
        rows.append((place, sex, ill, f"Ann {i}"))
    return [*rows, ("77", "f", "gout", "Zoe"), ("78", "m", "flu", "Zed")]


@pytest.mark.slow
def test_the_accuracies_are_those_of_a_plain_cross_validation(tmp_path: Path) -> None:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    rows = some_rows()
    definition = write(tmp_path, rows, attributes=forced_up())
    result = shoal.run(definition)
    assert result.levels == {"zip": 1, "sex": 0}
    found = shoal.utility(definition, "ill").classification
    assert found is not None
    rows.sort(key=lambda row: row[:3])
    labels = [(row[0][0] + "*", row[1]) for row in rows]
    sizes = Counter(labels)
    fold = np.random.default_rng(classifier.SEED).permutation(len(rows)) % classifier.FOLDS
    expected = []
    for number in range(classifier.FOLDS):
        learnt = [i for i in range(len(rows)) if fold[i] != number]
        tested = [i for i in range(len(rows)) if fold[i] == number]
        released = [i for i in learnt if sizes[labels[i]] >= 5]

        def accuracy(features: Any, of: list[int], tested: list[int] = tested) -> float:
            seen = Counter((j, features[i][j]) for i in of for j in (0, 1))
            features = [
                tuple(x if seen[j, x] >= 5 else "rare" for j, x in enumerate(row))
                for row in features
            ]
            vectors = DictVectorizer()
            x = vectors.fit_transform([dict(enumerate(features[i])) for i in of])
            with threadpool_limits(1):
                model = LogisticRegression(max_iter=100).fit(x, [rows[i][2] for i in of])
            asked = vectors.transform([dict(enumerate(features[i])) for i in tested])
            return float(np.mean(model.predict(asked) == [rows[i][2] for i in tested]))

        common = Counter(rows[i][2] for i in learnt).most_common(1)[0][0]
        baseline = float(np.mean([rows[i][2] == common for i in tested]))
        expected.append(
            (baseline, accuracy([r[:2] for r in rows], learnt), accuracy(labels, released))
        )
    baselines, originals, releases = zip(*expected, strict=True)
    assert found.baseline.folds == pytest.approx(baselines)
    assert found.original.folds == pytest.approx(originals)
    assert found.release.folds == pytest.approx(releases)
    assert found.records == found.available == len(rows)
    assert found.original.mean > found.baseline.mean


def forced_up() -> dict[str, Any]:
    return {**ATTRIBUTES, "zip": {**ATTRIBUTES["zip"], "from": 1}}


@pytest.mark.slow
def test_what_is_generalized_away_predicts_no_better_than_the_baseline(tmp_path: Path) -> None:
    rows = [(f"1{i % 2}", "f", "yes" if i % 2 else "no", "x") for i in range(200)]
    definition = write(tmp_path, [*rows, ("10", "f", "no", "x")], attributes=forced_up())
    shoal.run(definition)
    found = shoal.utility(definition, "ill").classification
    assert found is not None
    assert found.original.mean == 1
    assert found.release.mean < 0.6
    assert found.features == ("zip", "sex")


@pytest.mark.slow
def test_a_quasi_identifier_is_predicted_at_its_level(tmp_path: Path) -> None:
    rows = [(f"{1 + i % 2}{i % 5}", "fm"[i % 2], "x", "x") for i in range(200)]
    definition = write(tmp_path, rows, attributes=forced_up())
    shoal.run(definition)
    found = shoal.utility(definition, "zip").classification
    assert found is not None
    assert (found.values, found.features) == (2, ("sex",))
    assert found.original.mean == found.release.mean == 1


@pytest.mark.slow
def test_large_tables_are_sampled_and_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = write(tmp_path, some_rows())
    shoal.run(definition)
    monkeypatch.setattr(classifier, "MOST_RECORDS", 100)
    report = shoal.utility(definition, "ill")
    again = shoal.utility(definition, "ill")
    assert report.classification == again.classification
    assert report.classification is not None
    assert report.classification.records == 100
    assert "a random sample of 100 of 302 records" in str(report)


@pytest.mark.slow
def test_records_without_the_target_are_left_out(tmp_path: Path) -> None:
    rows = [(*row[:2], "" if i % 3 == 0 else row[2], row[3]) for i, row in enumerate(some_rows())]
    definition = write(tmp_path, rows, missing={"match": "extended", "values": ["no"]})
    shoal.run(definition)
    found = shoal.utility(definition, "ill").classification
    assert found is not None
    there = sum(row[2] not in ("", "no") for row in rows)
    assert found.available == there
    assert found.values == 2


@pytest.mark.parametrize(
    ("target", "said"),
    [("il", "did you mean 'ill'"), ("name", "not released"), ("sex", "two values")],
)
def test_a_wrong_target_is_one_clear_error(tmp_path: Path, target: str, said: str) -> None:
    rows = [(row[0], "f", *row[2:]) for row in some_rows()]
    definition = write(tmp_path, rows)
    shoal.run(definition)
    with pytest.raises(UserError, match=said):
        shoal.utility(definition, target)


@pytest.mark.slow
def test_a_target_of_too_many_values_is_refused(tmp_path: Path) -> None:
    rows = [(row[0], row[1], f"ill {i % 150}", row[3]) for i, row in enumerate(some_rows())]
    definition = write(tmp_path, rows)
    shoal.run(definition)
    with pytest.raises(UserError, match="150 values"):
        shoal.utility(definition, "ill")


def test_without_scikit_learn_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = write(tmp_path, some_rows())
    monkeypatch.setattr(classifier, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"shoal\[ml\]"):
        shoal.utility(definition, "ill")


@pytest.mark.slow
def test_the_command_shows_the_accuracies_side_by_side(tmp_path: Path) -> None:
    definition = write(tmp_path, some_rows())
    shoal.run(definition)
    path = tmp_path / "it.json"
    import json

    path.write_text(json.dumps(definition), encoding="utf-8")
    done = CliRunner().invoke(app, ["utility", str(path), "--target", "ill"])
    assert done.exit_code == 0
    assert "trained on the release" in done.output
    assert "always the most frequent value" in done.output
