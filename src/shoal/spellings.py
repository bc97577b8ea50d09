"""What texts of a column look like: numbers, dates, and spellings of missing values.

`missing_spellings` finds the texts of a table that mean that a value is missing. They hold for all
columns of a definition, so a text is one only if it is no plausible value anywhere in the table:

- a well-known spelling, such as `k.A.` or `n/a`, wherever it occurs;
- a text that may be a value elsewhere (`nd`, `.`), or any frequent text without a digit, if all
  columns that have it hold numbers or dates otherwise;
- a number such as 9999 or -1, if it is frequent and far from all other numbers of its columns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
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
    """The texts that seem to mean that a value is missing; well-known ones first."""
    kinds = {name: kind_of(counts) for name, counts in columns.items()}
    having: dict[str, list[str]] = {}
    for name, counts in columns.items():
        for text in counts:
            if text and len(text) <= LONGEST:
                having.setdefault(text, []).append(name)
    first = [text for text in FIRST if text in having]
    known = sorted(text for text in having if text not in first and _is_known(text))
    usual = "It is a usual way to write that a value is missing."
    found = [Spelling(text, usual) for text in (*first, *known)]
    others = [text for text in having if text not in first and text not in known]
    found += _in_the_way(others, having, columns, kinds)
    found += _far_numbers(others, having, columns, kinds)
    return tuple(found)


def _is_known(text: str) -> bool:
    return text in FIRST or text.strip().lower() in KNOWN


def _in_the_way(
    texts: Iterable[str],
    having: Mapping[str, list[str]],
    columns: Mapping[str, Counts],
    kinds: Mapping[str, str | None],
) -> list[Spelling]:
    """Texts that occur only where all else are numbers or dates, and are frequent or possible."""
    found: list[Spelling] = []
    words: dict[str, int] = {}
    for text in sorted(texts, key=lambda text: -sum(columns[c][text] for c in having[text])):
        if not all(kinds[name] for name in having[text]) or is_number(text):
            continue
        possible = text.strip().lower() in POSSIBLE
        frequent = all(_is_frequent(text, columns[name]) for name in having[text])
        word = frequent and not re.search("[0-9]", text)
        crowded = any(words.get(name, 0) >= FEW_WORDS for name in having[text])
        if possible or (word and not crowded):
            kind = kinds[having[text][0]]
            found.append(Spelling(text, f"Where it occurs, nearly all other values are {kind}."))
            for name in having[text]:
                words[name] = words.get(name, 0) + (not possible)
    return found


def _far_numbers(
    texts: Iterable[str],
    having: Mapping[str, list[str]],
    columns: Mapping[str, Counts],
    kinds: Mapping[str, str | None],
) -> list[Spelling]:
    """Numbers such as 9999 and -1 that are frequent and far from all others of their columns."""
    return [
        Spelling(text, "It is frequent, and far from all other numbers where it occurs.")
        for text in sorted(texts)
        if _NINES.fullmatch(text)
        and all(kinds[n] == "numbers" and _is_far(text, columns[n]) for n in having[text])
    ]


def _is_far(text: str, counts: Counts) -> bool:
    """Whether a number is frequent, and unlike all others: much larger, or the only one below 0.

    A column with a few small numbers, such as -1, 0 and 1, may mean each of them.
    """
    number = float(text)
    others = [float(t.replace(",", ".")) for t in counts if t and t != text and is_number(t)]
    others = [other for other in others if not _NINES.fullmatch(f"{other:g}")]
    if len(others) < 2 or not _is_frequent(text, counts):
        return False
    if number < 0:
        return min(others) >= 0 and max(others) >= 10 and len(others) >= 5
    return number >= FAR * max(map(abs, others))


def _is_frequent(text: str, counts: Counts) -> bool:
    return counts[text] >= max(OFTEN, FREQUENT * sum(counts.values()))
