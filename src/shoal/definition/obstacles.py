"""What keeps a column of numbers or dates from being treated as one.

Intervals and dates need every value to be a number, or a date of one format. A single text among
ten thousand numbers is enough to lose them, so a draft says what stands in the way. Texts are named
only where many records have them; all others are counted.
"""

from __future__ import annotations

from collections.abc import Mapping

from shoal.definition.hierarchies.dates import COMMON_FORMATS, formats_of, parse_date
from shoal.definition.hierarchies.numbers import parse_number
from shoal.spellings import far_numbers, is_date, is_number, kind_of

LEAST_RECORDS, LEAST_SHARE = 20, 0.01
"""A text may be named if so many records have it, and this share of them."""
MOST_NAMED = 3


def obstacle(counts: Mapping[str, int]) -> str:
    """Sentences on what stands in the way, from the records of each value; empty if nothing does.

    Missing values are not among the counts.
    """
    kind = kind_of(counts)
    if kind == "numbers":
        others = [text for text in counts if parse_number(text) is None]
        if others and all(map(is_number, others)):
            return (
                f"{_records(others, counts)} decimal commas: state `decimal` of the source, which"
                " CSV and Excel files can have, or store them with points."
            )
        if not others:
            return _far(counts)
        return _sentence("numbers", "intervals", others, counts)
    if kind == "dates":
        if len(formats_of(counts)) == 1:
            return ""
        failing = [[t for t in counts if parse_date(t, each) is None] for each in COMMON_FORMATS]
        if sum(not others for others in failing) > 1:
            return (
                "Day and month of these dates may be exchanged, so none is assumed: state the"
                ' format, {date: [month, year], format: "%d/%m/%Y"}.'
            )
        others = min(failing, key=len)
        said = _sentence("dates of one format", "dates", others, counts)
        several = ' A `format` can be several: "%d.%m.%Y | %Y-%m-%d".'
        return said + several * all(map(is_date, others))
    return ""


def _far(counts: Mapping[str, int]) -> str:
    """A sentence on numbers that may stand for missing values; empty if there are none."""
    numbers = {text: number for text in counts if (number := parse_number(text)) is not None}
    far = far_numbers(numbers.values())
    texts = [text for text, number in numbers.items() if number in far]
    if not texts:
        return ""
    what, them = ("number", "it") if len(texts) == 1 else ("different numbers", "them")
    return (
        f"{_records(texts, counts)} {len(texts):,} {what} far from all others"
        f"{_named(texts, counts)}. List {them} as missing if no value is meant; a record that holds"
        " sums of the others does not belong in the table."
    )


def _records(texts: list[str], counts: Mapping[str, int]) -> str:
    records = sum(counts[text] for text in texts)
    return "1 record has" if records == 1 else f"{records:,} records have"


def _sentence(what: str, lost: str, texts: list[str], counts: Mapping[str, int]) -> str:
    """How many values are of another kind, and which where they are frequent."""
    if not texts:
        return ""
    values = "value" if len(texts) == 1 else "different values"
    return (
        f"Most values are {what}, but {_records(texts, counts)} {len(texts):,} {values} of another"
        f" kind{_named(texts, counts)}. So no {lost} are proposed: correct them, or list them as"
        " missing."
    )


def _named(texts: list[str], counts: Mapping[str, int]) -> str:
    """The texts that may be named, the most frequent first."""
    most = max(LEAST_RECORDS, LEAST_SHARE * sum(counts.values()))
    frequent = [text for text in texts if counts[text] >= most and text.isprintable()]
    frequent.sort(key=lambda text: (-counts[text], text))
    named = ", ".join(repr(text[:20]) for text in frequent[:MOST_NAMED])
    return f", among them {named}" if named else ""
