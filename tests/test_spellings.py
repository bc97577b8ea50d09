"""Spellings of missing values: found by their form and frequency, and no value is taken for one."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from shoal.spellings import FIRST, kind_of, missing_spellings

DICE = random.Random(3)
AGES = [str(DICE.randint(18, 95)) for _ in range(500)]
DAYS = [f"{DICE.randint(1, 28):02}.{DICE.randint(1, 12):02}.19{DICE.randint(30, 99)}" for _ in AGES]
CITIES = [DICE.choice(["Köln", "Bonn", "ND", "SD"]) for _ in AGES]


def found(**columns: list[str]) -> list[str]:
    return [each.text for each in missing_spellings({n: Counter(v) for n, v in columns.items()})]


@pytest.mark.parametrize(
    "text",
    [
        *("?", "NA", "N/A", "n/a", "NaN", "NULL", "None", "unknown", "-", "k.A.", "k. A.", "K.A."),
        *("keine Angabe", "unbekannt", "n.b.", "n.d.", "inconnu", "Non renseigné", "s/d", "NS/NC"),
        *("desconocido", "sconosciuto", "non disponibile", "onbekend", "#N/A", "#NV", "--", "–"),
        *("(blank)", "nicht erhoben", "UNK", "missing", "fehlt"),
    ],
)
def test_well_known_spellings_are_found_anywhere_even_once(text: str) -> None:
    assert found(city=[*CITIES, text]) == [text]
    assert found(age=[*AGES, text], city=CITIES) == [text]


@pytest.mark.parametrize("text", [".", "..", "*", "x", "nd", "none", "00.00.0000", "9999-99-99"])
def test_other_spellings_are_found_only_among_numbers_or_dates(text: str) -> None:
    assert found(age=[*AGES, text], day=DAYS) == [text]
    assert found(age=AGES, day=[*DAYS, text]) == [text]
    assert found(city=[*CITIES, text]) == []
    assert found(age=[*AGES, text], city=[*CITIES, text]) == []


def test_a_frequent_word_among_numbers_is_one_and_a_rare_one_is_not() -> None:
    assert found(age=[*AGES, *["verw."] * 9]) == ["verw."]
    assert found(age=[*AGES, "verw."]) == []
    assert found(age=[*AGES, *["verw."] * 9], city=[*CITIES, "verw."]) == []


def test_codes_with_digits_are_values() -> None:
    assert found(age=[*AGES, *["90+"] * 30, *["<18"] * 30]) == []


def test_many_words_among_numbers_are_values() -> None:
    words = [w for w in ("rot", "blau", "gelb", "grün", "weiß", "braun") for _ in range(9)]
    assert len(found(age=[*AGES, *words])) <= 3


@pytest.mark.parametrize("text", ["999", "9999", "-1", "-99", "-9"])
def test_numbers_far_from_all_others_are_found(text: str) -> None:
    assert found(age=[*AGES, *[text] * 9], city=CITIES) == [text]
    assert found(age=[*AGES, text]) == []


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (AGES, "99"),
        ([str(i) for i in range(9000, 9990)], "9999"),
        (["-5", "-4", "3", "2"] * 50, "-1"),
        (["0", "1", "2"] * 50, "-1"),
        (["5"] * 50, "99"),
        (CITIES, "9999"),
    ],
)
def test_numbers_that_may_be_values_are_not(column: list[str], text: str) -> None:
    assert found(x=[*column, *[text] * 20]) == []


def test_a_number_that_is_a_value_elsewhere_is_not_missing() -> None:
    sizes = [str(DICE.randint(500, 2000)) for _ in AGES]
    assert found(age=[*AGES, *["999"] * 9], grams=[*sizes, "999", "999"]) == []


def test_a_number_of_another_form_is_missing_where_it_is_not_far() -> None:
    """All amounts have cents; 9999 alone has none."""
    pay = [f"{DICE.randint(50_000, 2_000_000) / 100:.2f}" for _ in AGES]
    ages = [*AGES, *["9999"] * 9]
    assert found(age=ages, pay=[*pay, *["9999"] * 9]) == ["9999"]
    assert found(pay=[*pay, *["9999"] * 9]) == []
    assert found(age=ages, pay=[*pay, *["9999"] * 9, *["1200"] * 9]) == []
    assert found(age=ages, pay=[*pay, *["9999.00"] * 9]) == ["9999"]
    assert found(age=ages, pay=[*pay[:5], *["9999"] * 9]) == []


def test_the_kind_of_a_column_is_that_of_most_of_its_values() -> None:
    assert kind_of(Counter(AGES)) == "numbers"
    assert kind_of(Counter(DAYS)) == "dates"
    assert kind_of(Counter(CITIES)) is None
    assert kind_of(Counter()) is None
    assert kind_of(Counter([*AGES, "k.A.", "?"])) == "numbers"
    assert kind_of(Counter(["1,5", "2,25", None, ""])) == "numbers"


def test_spellings_come_in_the_order_of_their_fame() -> None:
    assert found(x=[*AGES, "k.A.", *reversed(FIRST)]) == [*FIRST, "k.A."]
