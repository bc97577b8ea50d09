"""Numbers as the reader writes them."""

from __future__ import annotations

import pytest

from shoal.web.numbers import ENGLISH, numbers_for

THIN, WIDE = "\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("header", "count", "percent"),
    [
        ("en-US,en;q=0.9", "20,000", "28.33%"),
        ("de-DE,de;q=0.9,en;q=0.8", "20.000", f"28,33{WIDE}%"),
        ("de-CH", "20\N{RIGHT SINGLE QUOTATION MARK}000", "28.33%"),
        ("fr-FR", f"20{THIN}000", f"28,33{THIN}%"),
        ("es", "20.000", f"28,33{WIDE}%"),
        ("it-IT", "20.000", "28,33%"),
        ("en;q=0.3, de;q=0.7", "20.000", f"28,33{WIDE}%"),
        ("tlh, de;q=0.5", "20.000", f"28,33{WIDE}%"),
        ("", "20,000", "28.33%"),
        ("*;q=x,,;;\x00", "20,000", "28.33%"),
    ],
)
def test_separators_follow_the_language_that_the_browser_prefers(
    header: str, count: str, percent: str
) -> None:
    numbers = numbers_for(header)
    assert numbers.count(20_000) == count
    assert numbers.percent(0.2833) == percent


def test_a_share_that_is_not_zero_is_never_shown_as_zero() -> None:
    assert ENGLISH.percent(0) == "0%"
    assert ENGLISH.percent(0.00001) == "<0.01%"
    assert ENGLISH.percent(0.5) == "50%"
    assert ENGLISH.percent(1) == "100%"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(5, "5"), (0.25, "0.25"), (1234.5, "1,234.5"), (0.00000012, "1.2e-07"), (-0.5, "-0.5")],
)
def test_plain_numbers_have_no_digits_that_say_nothing(value: float, shown: str) -> None:
    assert ENGLISH.plain(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.44, "0.4 s"), (12.3, "12 s"), (60, "1 min"), (185, "3 min 5 s"), (7800, "2 h 10 min")],
)
def test_durations_have_the_unit_that_fits(seconds: float, shown: str) -> None:
    assert ENGLISH.seconds(seconds) == shown


def test_things_agree_with_their_number() -> None:
    assert ENGLISH.things(1, "record") == "1 record"
    assert ENGLISH.things(2, "class", "classes") == "2 classes"
    assert ENGLISH.of(5, 20_000) == "5 of 20,000 records"
    assert ENGLISH.size(3_400_000) == "3.4 MB"
