"""Estimated population uniques are those of the textbook equations."""

from __future__ import annotations

import csv
import os
from collections import Counter
from pathlib import Path

import pytest

from shoal.analysis.population import Sample, digamma, estimate, fit_pitman

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
ADULT = (
    "sex age race marital-status education native-country workclass occupation salary-class".split()
)
USA = 317_238_626
BOOK = DATA / "risk_textbook.csv"
MEASURES = {"zayatz": "ZAYATZ", "pitman": "PITMAN exact expectation", "snb": "SNB"}


def textbook() -> dict[tuple[str, str, str, str], float]:
    """Each value by table, number of columns, population and what it is."""
    if not BOOK.is_file():
        return {}
    with BOOK.open(encoding="utf-8", newline="") as file:
        return {
            (row["dataset"], row["quasi_identifiers"], row["parameter"], row["subject"]): float(
                row["value"]
            )
            for row in csv.DictReader(file)
            if row["measure"] == "check_population_uniques"
        }


def class_sizes(table: str, columns: int) -> Counter[int]:
    """How many classes have how many records, counted in plain Python."""
    with (DATA / table / "data.csv").open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file, delimiter=";")
    names = ADULT if table == "adult" else heading
    chosen = names[:columns]
    if table == "adult" and columns == 8:
        chosen = [name for name in names if name != "occupation"]
    places = [heading.index(name) for name in chosen]
    return Counter(Counter(tuple(row[place] for place in places) for row in rows).values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "columns"), sorted({(key[0], int(key[1])) for key in textbook()})
)
def test_estimates_are_those_of_the_textbook(table: str, columns: int) -> None:
    book, sizes = textbook(), class_sizes(table, columns)
    records = sum(size * number for size, number in sizes.items())
    for population in ("USA", "fraction=0.01", "fraction=0.1", "fraction=0.5"):
        people = USA if population == "USA" else round(records / float(population[9:]))
        found = estimate(Sample(sizes, people))
        for name, subject in MEASURES.items():
            expected = book[table, str(columns), population, subject]
            assert getattr(found, name).uniques == pytest.approx(expected, rel=2e-6)
        small = people >= 10 * records
        smaller = min("zayatz", "snb", key=lambda name: getattr(found, name).uniques)
        assert found.dankar_uses == ("pitman" if small else smaller)


def test_without_sample_uniques_nobody_is_estimated_unique() -> None:
    found = estimate(Sample({2: 10, 5: 3}, 1000))
    assert {found.zayatz.uniques, found.pitman.uniques, found.snb.uniques} == {0.0}


def test_an_estimator_without_an_answer_says_why() -> None:
    found = estimate(Sample({1: 20}, 1000))
    assert found.snb.uniques is None
    assert "class of two" in found.snb.reason
    assert found.pitman.uniques is None
    assert found.dankar_uses == "zayatz"
    assert found.dankar.uniques == pytest.approx(1000)


def test_the_whole_population_has_the_uniques_of_the_table() -> None:
    found = estimate(Sample({1: 7, 2: 5, 9: 2}, 35))
    assert found.zayatz.uniques == pytest.approx(7)
    assert found.snb.uniques == pytest.approx(7)


def test_the_fitted_pitman_model_solves_both_equations() -> None:
    sizes = {1: 40, 2: 15, 3: 7, 6: 3, 20: 1}
    fitted = fit_pitman(Sample(sizes, 10_000))
    assert fitted is not None
    theta, alpha = fitted
    records, classes = sum(s * c for s, c in sizes.items()), sum(sizes.values())
    by_theta = sum(1 / (theta + i * alpha) for i in range(1, classes)) - sum(
        1 / (theta + i) for i in range(1, records)
    )
    by_alpha = sum(i / (theta + i * alpha) for i in range(1, classes)) - sum(
        c * sum(1 / (j - alpha) for j in range(1, s)) for s, c in sizes.items()
    )
    assert by_theta == pytest.approx(0, abs=1e-8)
    assert by_alpha == pytest.approx(0, abs=1e-6)


def test_digamma_differs_by_one_over_x() -> None:
    assert digamma(1) == pytest.approx(-0.5772156649015329, abs=1e-12)
    for x in (0.3, 1.7, 9.99, 123.4):
        assert digamma(x + 1) - digamma(x) == pytest.approx(1 / x, abs=1e-12)
