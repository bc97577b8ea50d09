"""What texts of a column look like: numbers, dates, and spellings of missing values.

`missing_spellings` finds the texts of a table that mean that a value is missing. They hold for all
columns of a definition, so a text is one only if it is no plausible value anywhere in the table:

- a well-known spelling, such as `k.A.` or `n/a`, wherever it occurs;
- a text that may be a value elsewhere (`nd`, `.`), or any frequent text without a digit, if all
  columns that have it hold numbers or dates otherwise;
- a number such as 9999 or -1, if it is frequent and far from all other numbers of its columns; a
  column whose other numbers all have decimals does not speak against it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

Counts: TypeAlias = Mapping[str | None, int]
"""How many records have each value of a column; None and empty text are missing."""

FIRST = ("?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "unknown", "-")
"""Texts that nearly always mean that a value is missing, exactly as they are."""

KNOWN = frozenset(
    (
        "#n/a, #na, #nv, n/a, n.a., n. a., n.a, nan, null, <na>, <null>, (null), \\n, n/k, unk, "
        "unknown, unkn., missing, (missing), (blank), (empty), not available, not known, "
        "not recorded, not specified, not stated, no data, no answer, ??, ???, --, ---, –, —, "
        "----, k.a., k. a., k.a, k/a, keine angabe, keine angaben, keine daten, o.a., ohne angabe, "
        "unbekannt, unbek., unbek, nicht bekannt, nicht angegeben, nicht erhoben, nicht erfasst, "
        "nicht dokumentiert, fehlt, fehlend, n.b., n. b., n/b, n.e., weiß nicht, weiss nicht, "
        "n.d., n. d., n/d, inconnu, inconnue, non renseigné, non renseignée, non renseigne, "
        "non disponible, non communiqué, non connu, non précisé, ne sait pas, manquant, manquante, "
        "s/d, s.d., sin datos, sin dato, desconocido, desconocida, no disponible, no consta, "
        "ns/nc, sconosciuto, sconosciuta, non noto, non nota, non disponibile, mancante, "
        "non pervenuto, non rilevato, desconhecido, desconhecida, ignorado, sem informação, "
        "não informado, não disponível, onbekend, niet bekend, ukjent, ukendt, okänt, okänd, "
        "saknas, tuntematon, brak danych"
    ).split(", ")
)
"""Spellings of missing values, in small letters, that are no values of anything else."""

POSSIBLE = frozenset(
    ". .. ... * # x xx xxx / // _ __ ! none keine keiner nd n.n. nn nb ns nr nk sd ka uk "
    "0000-00-00 00.00.0000 00/00/0000 99.99.9999 9999-99-99".split()
)
"""Spellings that may be values; missing where all other values are numbers or dates."""

_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,4})?\s*")
_DATE = re.compile(
    r"\s*(?:[0-9]{4}[-./][0-9]{1,2}[-./][0-9]{1,2}|[0-9]{1,2}[-./][0-9]{1,2}[-./][0-9]{2,4})"
    r"(?:[T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?)?(?:Z| ?[+-][0-9]{2}:?[0-9]{2})?\s*"
)
_NINES = re.compile(r"-?(?:9{2,8})(?:\.9+|\.0+)?|-[19]")
MOSTLY = 0.8
"""A column is one of numbers if this share of its records with a value has one."""
FREQUENT, OFTEN = 0.005, 3
"""A text is frequent if this share of the records, and at least so many of them, have it."""
FAR = 2.5
"""A number stands for a missing value if it is so many times as large as all others."""
MANY_DECIMALS = 20
"""So many different numbers with decimals show that a whole number among them is something else."""
MOST_FAR, LEAST_NEAR = 3, 10
"""Up to so many numbers may be far from the others, of which there must be so many."""
LONGEST = 20
FEW_WORDS = 3
"""A column has at most so many different spellings of missing values that are not well known."""


@dataclass(frozen=True)
class Spelling:
    """A text that seems to mean that a value is missing, and why."""

    text: str
    reason: str


def is_number(text: str) -> bool:
    """Whether a text is a number, with a point or a comma before its decimals."""
    return len(text) <= 400 and _NUMBER.fullmatch(text) is not None


def is_date(text: str) -> bool:
    """Whether a text has the form of a date, with or without a time."""
    return len(text) <= 60 and _DATE.fullmatch(text) is not None


def far_numbers(numbers: Collection[Decimal]) -> frozenset[Decimal]:
    """Numbers so much larger than all others, with either sign, that they may mean missing."""
    rising = sorted(set(numbers), key=abs)
    far = 0
    while far < MOST_FAR and len(rising) - far > LEAST_NEAR:
        near, next_one = abs(rising[-far - 2]), abs(rising[-far - 1])
        if near == 0 or next_one < Decimal(FAR) * near:
            break
        far += 1
    return frozenset(rising[len(rising) - far :])


def kind_of(counts: Counts | Mapping[str, int], missing: Collection[str] = ()) -> str | None:
    """`numbers` or `dates` where most records with a value have one, else None.

    Texts of POSSIBLE and well-known spellings of missing values do not count.
    """
    present = [
        (text, number)
        for text, number in counts.items()
        if text and text not in missing and not _is_known(text) and text.lower() not in POSSIBLE
    ]
    records = sum(number for _, number in present)
    for kind, test in (("numbers", is_number), ("dates", is_date)):
        fitting = sum(number for text, number in present if test(text))
        if records and fitting >= MOSTLY * records:
            return kind
    return None


def missing_spellings(columns: Mapping[str, Counts]) -> tuple[Spelling, ...]:
    """The texts that seem to mean that a value is missing; well-known ones first.

    Every text is looked at once, and only those few that may be one are looked at again.
    """
    seen = [_Column(counts) for counts in columns.values()]
    candidates = sorted({text for column in seen for text in column.candidates()})
    having = {text: [c for c in seen if text in c.counts] for text in candidates}
    first = [text for text in FIRST if text in having]
    known = [text for text in candidates if text not in first and _is_known(text)]
    usual = "It is a usual way to write that a value is missing."
    found = [Spelling(text, usual) for text in (*first, *known)]
    others = [text for text in candidates if text not in first and text not in known]
    found += _in_the_way([text for text in others if not is_number(text)], having)
    found += _far_numbers([text for text in others if _NINES.fullmatch(text)], having)
    return tuple(found)


class _Column:
    """A column with its kind and how many records make a text frequent."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.kind = kind_of(counts)
        self._frequent = max(OFTEN, FREQUENT * sum(counts.values()))
        self.words = 0
        """Frequent words that were taken for spellings of missing values."""

    def candidates(self) -> Iterator[str]:
        """The texts that may be spellings of missing values."""
        for text in self.counts:
            if text and len(text) <= LONGEST:
                frequent = self.kind is not None and self.is_frequent(text)
                if frequent or _is_known(text) or text.strip().lower() in POSSIBLE:
                    yield text

    def is_frequent(self, text: str) -> bool:
        return self.counts[text] >= self._frequent


def _is_known(text: str) -> bool:
    return text in FIRST or text.strip().lower() in KNOWN


def _in_the_way(texts: Iterable[str], having: Mapping[str, list[_Column]]) -> list[Spelling]:
    """Texts that occur only where all else are numbers or dates, and are frequent or possible."""
    found: list[Spelling] = []
    for text in sorted(texts, key=lambda text: -sum(c.counts[text] for c in having[text])):
        columns = having[text]
        possible = text.strip().lower() in POSSIBLE
        frequent = all(column.is_frequent(text) for column in columns)
        word = frequent and not re.search("[0-9]", text)
        crowded = any(column.words >= FEW_WORDS for column in columns)
        if all(column.kind for column in columns) and (possible or (word and not crowded)):
            kind = columns[0].kind
            found.append(Spelling(text, f"Where it occurs, nearly all other values are {kind}."))
            for column in columns:
                column.words += not possible
    return found


def _far_numbers(texts: Iterable[str], having: Mapping[str, list[_Column]]) -> list[Spelling]:
    """Numbers such as 9999 and -1 that are frequent and far from all others of their columns."""
    found: list[Spelling] = []
    for text in texts:
        columns = having[text]
        far = [c.kind == "numbers" and _is_far(text, c) for c in columns]
        if any(far) and all(
            f or _is_of_other_form(text, c) for f, c in zip(far, columns, strict=True)
        ):
            where = "where it occurs" if all(far) else "of a column"
            reason = f"It is frequent, and far from all other numbers {where}."
            found.append(Spelling(text, reason))
    return found


def _is_of_other_form(text: str, column: _Column) -> bool:
    """Whether a whole number stands among many numbers that all have decimals."""
    others = [each for each in column.counts if each and each != text and is_number(each)]
    decimals = all(re.search("[.,][0-9]", each) for each in others)
    return column.kind == "numbers" and text.isdigit() and decimals and len(others) >= MANY_DECIMALS


def _is_far(text: str, column: _Column) -> bool:
    """Whether a number is frequent, and unlike all others: much larger, or the only one below 0.

    A column with a few small numbers, such as -1, 0 and 1, may mean each of them.
    """
    if not column.is_frequent(text):
        return False
    number = float(text)
    texts = (each for each in column.counts if each and each != text and is_number(each))
    others = [float(each.replace(",", ".")) for each in texts]
    others = [other for other in others if not _NINES.fullmatch(f"{other:g}")]
    if len(others) < 2:
        return False
    if number < 0:
        return min(others) >= 0 and max(others) >= 10 and len(others) >= 5
    return number >= FAR * max(map(abs, others))
