"""A synthetic patient registry from a seed: nobody in it lives.

It is made to be hard in the ways real registries are: ages follow a pyramid, towns and countries
are skewed, some jobs and origins are rare, a few people are very old, values are missing in three
spellings, and diagnoses go with age and sex.

Every draw is a uniform number in [0,1) of PCG64 looked up in cumulated whole weights. Both are
specified to the bit, so that a seed gives the same bytes on every machine.
"""

from __future__ import annotations

import csv
from datetime import date, timedelta
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from shoal.demo.vocabulary import (
    COUNTRIES,
    DIAGNOSES,
    FAMILY_NAMES,
    GIVEN_NAMES,
    OCCUPATIONS,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Indices: TypeAlias = NDArray[np.int64]

COLUMNS = (
    "patient_id",
    "name",
    "birth",
    "sex",
    "zip",
    "country",
    "occupation",
    "children",
    "admitted",
    "diagnosis",
    "ward",
    "length_of_stay",
)

LAST_DAY = date(2025, 12, 31)

# People of each age that come to a hospital, in bands: first age, first age after, weight per year.
AGE_BANDS = (
    (0, 1, 420),
    (1, 6, 130),
    (6, 16, 80),
    (16, 20, 110),
    (20, 40, 170),
    (40, 55, 190),
    (55, 65, 260),
    (65, 80, 310),
    (80, 90, 240),
    (90, 96, 60),
    (96, 101, 5),
)
OLDEST = (107, 104, 103)
REGIONS = ("0", "1", "4", "7")
TOWNS_PER_REGION = 12
CHILDREN_WEIGHTS = (330, 260, 270, 95, 30, 9, 3, 1, 1, 1)

# Column, how the gap is written, and how many of 1,000 records have it.
GAPS = (
    ("birth", "", 2),
    ("sex", "?", 1),
    ("zip", "", 4),
    ("country", "", 6),
    ("country", "unknown", 4),
    ("occupation", "", 8),
    ("occupation", "?", 4),
    ("children", "", 6),
)


class Draws:
    """Seeded draws of one choice per record."""

    def __init__(self, records: int, seed: int) -> None:
        self.records = records
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def uniform(self) -> NDArray[np.float64]:
        """A number in [0,1) for each record."""
        return self._generator.random(self.records)

    def pick(self, weights: Iterable[int]) -> Indices:
        """For each record the index of a choice, as often as its weight says."""
        edges = np.cumsum(np.fromiter(weights, dtype=np.int64))
        picked: Indices = np.searchsorted(edges, self.uniform() * edges[-1], side="right")
        return picked

    def below(self, limits: Indices | int) -> Indices:
        """For each record a whole number from 0 up to its limit, exclusive."""
        return (self.uniform() * limits).astype(np.int64)


def registry(records: int = 20_000, seed: int = 7) -> dict[str, list[str]]:
    """The columns of the registry as text, in the order of `COLUMNS`."""
    draws = Draws(records, seed)
    ages = _ages(draws)
    birthdays = draws.below(365)
    sexes = _sexes(draws, ages)
    diagnoses = _diagnoses(draws, ages, sexes)
    columns = {
        "patient_id": _numbers(draws),
        "name": _names(draws, sexes),
        "birth": _births(ages, birthdays),
        "sex": sexes,
        "zip": _zips(draws),
        "country": _countries(draws),
        "occupation": _occupations(draws, ages),
        "children": _children(draws, ages),
        "admitted": _admissions(draws, ages * 365 + birthdays),
        "diagnosis": [DIAGNOSES[d].text for d in diagnoses],
        "ward": _wards(draws, ages, diagnoses),
        "length_of_stay": _stays(draws, ages),
    }
    return _with_gaps(draws, columns)


def write_registry(path: Path, records: int = 20_000, seed: int = 7) -> None:
    """Write the registry as CSV: UTF-8, a header, quotes only where needed."""
    columns = registry(records, seed)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _ages(draws: Draws) -> Indices:
    """The pyramid, with a few of the oldest people put at the start of the table."""
    weights = [weight for first, end, weight in AGE_BANDS for _ in range(first, end)]
    ages = draws.pick(weights)
    oldest = np.array(OLDEST[: draws.records // 1000], dtype=np.int64)
    ages[: len(oldest)] = oldest
    return ages


def _sexes(draws: Draws, ages: Indices) -> list[str]:
    """Women live longer: half of the young, two thirds of those over 80."""
    share = draws.uniform()
    female = np.where(ages > 80, 0.66, 0.51)
    return [
        "diverse" if x > 0.998 else "female" if x < f else "male"
        for x, f in zip(share.tolist(), female.tolist(), strict=True)
    ]


def _numbers(draws: Draws) -> list[str]:
    """Distinct patient numbers in no order."""
    ranks = np.argsort(draws.uniform(), kind="stable")
    return [f"P{100_000 + 7 * rank}" for rank in ranks.tolist()]


def _names(draws: Draws, sexes: Sequence[str]) -> list[str]:
    given = draws.below(len(GIVEN_NAMES["female"]))
    family = draws.pick(range(len(FAMILY_NAMES) + 4, 4, -1))
    return [
        f"{GIVEN_NAMES.get(sex, GIVEN_NAMES['female'])[g]} {FAMILY_NAMES[f]}"
        for sex, g, f in zip(sexes, given.tolist(), family.tolist(), strict=True)
    ]


def _births(ages: Indices, birthdays: Indices) -> list[str]:
    """So many whole years and days before the last day."""
    return [
        (LAST_DAY.replace(year=LAST_DAY.year - age) - timedelta(days=day)).isoformat()
        for age, day in zip(ages.tolist(), birthdays.tolist(), strict=True)
    ]


def _zips(draws: Draws) -> list[str]:
    """Region, town within it, district within the town; few towns and regions hold most people."""
    regions = draws.pick(10_000 // rank**2 for rank in range(1, len(REGIONS) + 1))
    towns = draws.pick(10_000 // rank for rank in range(1, TOWNS_PER_REGION + 1))
    districts = draws.below(1 + 12 // (towns + 1))
    return [
        f"{REGIONS[region]}{town * 8 + 3:02d}{district * 5 + 11:02d}"
        for region, town, district in zip(
            regions.tolist(), towns.tolist(), districts.tolist(), strict=True
        )
    ]


def _countries(draws: Draws) -> list[str]:
    weights = {
        country: weight
        for regions in COUNTRIES.values()
        for countries in regions.values()
        for country, weight in countries.items()
    }
    names = list(weights)
    return [names[i] for i in draws.pick(weights.values()).tolist()]


def _occupations(draws: Draws, ages: Indices) -> list[str]:
    """A job, unless one is too young or too old for it."""
    weights = {job: weight for jobs in OCCUPATIONS.values() for job, weight in jobs.items()}
    names = list(weights)
    picked = [names[i] for i in draws.pick(weights.values()).tolist()]
    pensions = draws.uniform()
    studies = draws.uniform()
    return [
        _occupation(age, job, pension, study)
        for age, job, pension, study in zip(
            ages.tolist(), picked, pensions.tolist(), studies.tolist(), strict=True
        )
    ]


def _occupation(age: int, job: str, pension: float, study: float) -> str:
    if age < 6:
        return "child"
    if age < 18:
        return "pupil"
    if age < 26 and study < 0.45:
        return "student"
    if age >= 75 or (age >= 63 and pension < 0.85):
        return "pensioner"
    return job


def _children(draws: Draws, ages: Indices) -> list[str]:
    picked = draws.pick(CHILDREN_WEIGHTS)
    return [
        str(c if a > 30 else c // 2 if a > 18 else 0) for c, a in zip(picked, ages, strict=True)
    ]


def _admissions(draws: Draws, days_of_life: Indices) -> list[str]:
    """A day of the last three years, never before the birth."""
    days = draws.below(np.minimum(3 * 365, days_of_life + 1))
    return [(LAST_DAY - timedelta(days=day)).isoformat() for day in days.tolist()]


def _diagnoses(draws: Draws, ages: Indices, sexes: Sequence[str]) -> list[int]:
    """For each record the index of a diagnosis, by the weights of its age group and sex."""
    picks = {
        (group, sex): draws.pick(
            getattr(d, group) if d.sex in (None, sex) else 0 for d in DIAGNOSES
        ).tolist()
        for group in ("child", "adult", "old")
        for sex in ("female", "male", "diverse")
    }
    groups = np.where(ages < 16, "child", np.where(ages < 60, "adult", "old")).tolist()
    return [
        picks[group, sex][record]
        for record, (group, sex) in enumerate(zip(groups, sexes, strict=True))
    ]


def _wards(draws: Draws, ages: Indices, diagnoses: Sequence[int]) -> list[str]:
    """The ward of the diagnosis; most children lie in paediatrics, a few patients anywhere."""
    full = draws.uniform().tolist()
    return [
        "paediatrics"
        if age < 16 and x < 0.9
        else "intensive care"
        if x > 0.96
        else DIAGNOSES[diagnosis].ward
        for age, diagnosis, x in zip(ages.tolist(), diagnoses, full, strict=True)
    ]


def _stays(draws: Draws, ages: Indices) -> list[str]:
    """Days: most stays are short, a few are very long, and the old stay longer."""
    days = draws.pick(1_000_000 // ((day + 1) * (day + 4)) for day in range(120))
    return [str(day + age // 30) for day, age in zip(days.tolist(), ages.tolist(), strict=True)]


def _with_gaps(draws: Draws, columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """The columns with some values missing, as `GAPS` says."""
    for name, text, per_thousand in GAPS:
        gone = (draws.uniform() < per_thousand / 1000).tolist()
        columns[name] = [text if g else v for g, v in zip(gone, columns[name], strict=True)]
    return columns
