"""Numbers as the reader writes them: separators by the language that the browser prefers.

The texts of the pages are English; a German reader still sees 20.000 records and 28,33 %.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_SPACE = "\N{NARROW NO-BREAK SPACE}"
_WIDE = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Numbers:
    """Writes numbers with these separators. The defaults are those of English."""

    language: str = "en"
    group: str = ","
    decimal: str = "."
    before_percent: str = ""

    def count(self, value: int) -> str:
        """A whole number: 20,000."""
        return f"{value:,}".replace(",", self.group)

    def plain(self, value: float, digits: int = 4) -> str:
        """A number with as many significant digits as needed, at most `digits`: 0.25, 1,234.5."""
        if value == int(value) and abs(value) < 1e15:
            return self.count(int(value))
        whole, _, rest = f"{value:,.{digits}f}".rstrip("0").partition(".")
        if whole.strip("-") == "0" and not rest:
            return self._scientific(value, digits)
        return whole.replace(",", self.group) + (self.decimal + rest if rest else "")

    def percent(self, share: float, digits: int = 2) -> str:
        """A share in percent: 28.33 %. A share that is not 0 is never shown as 0."""
        text = f"{100 * share:.{digits}f}"
        if share and not float(text):
            text = f"{'>-' if share < 0 else '<'}{10**-digits:.{digits}f}"
        elif "." in text:
            text = text.rstrip("0").rstrip(".")
        return text.replace(".", self.decimal) + self.before_percent + "%"

    def of(self, part: int, whole: int, noun: str = "records") -> str:
        """A part of a whole: 5 of 20,000 records."""
        return f"{self.count(part)} of {self.count(whole)} {noun}"

    def things(self, number: int, one: str, many: str | None = None) -> str:
        """A number of things, with the word in the right form: 1 record, 2 records."""
        return f"{self.count(number)} {one if number == 1 else many or one + 's'}"

    def seconds(self, value: float) -> str:
        """A duration: 0.4 s, 12 s, 3 min 5 s, 2 h 10 min."""
        if value < 10:
            return f"{self.plain(round(value, 1))} s"
        whole = round(value)
        if whole < 60:
            return f"{whole} s"
        if whole < 3600:
            return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
        return f"{whole // 3600} h {whole % 3600 // 60} min"

    def size(self, octets: int) -> str:
        """A size: 512 B, 3.4 MB."""
        value, units = float(octets), ["B", "kB", "MB", "GB", "TB"]
        while value >= 1000 and len(units) > 1:
            value, units = value / 1000, units[1:]
        return f"{self.plain(round(value, 1))} {units[0]}"

    def _scientific(self, value: float, digits: int) -> str:
        return f"{value:.{max(digits - 2, 1)}g}".replace(".", self.decimal)


ENGLISH = Numbers()
_KNOWN: Mapping[str, Numbers] = MappingProxyType(
    {
        "en": ENGLISH,
        "de": Numbers("de", ".", ",", _WIDE),
        "de-at": Numbers("de-AT", _WIDE, ",", _WIDE),
        "de-ch": Numbers("de-CH", "\N{RIGHT SINGLE QUOTATION MARK}", ".", ""),
        "fr": Numbers("fr", _SPACE, ",", _SPACE),
        "es": Numbers("es", ".", ",", _WIDE),
        "it": Numbers("it", ".", ",", ""),
        "nl": Numbers("nl", ".", ",", ""),
        "pt": Numbers("pt", ".", ",", ""),
        "pl": Numbers("pl", _WIDE, ",", ""),
        "sv": Numbers("sv", _WIDE, ",", _WIDE),
    }
)


def numbers_for(accept_language: str) -> Numbers:
    """How the reader writes numbers, from the header Accept-Language; English when it says nothing.

    The header is what a browser sends; an unknown or broken one is never an error.
    """
    preferred: list[tuple[float, str]] = []
    for part in accept_language[:500].split(","):
        found = re.fullmatch(r"\s*([A-Za-z-]{2,20})\s*(?:;\s*q=([01](?:\.\d{0,3})?))?\s*", part)
        if found:
            preferred.append((float(found[2] or 1), found[1].lower()))
    for _, language in sorted(preferred, key=lambda each: -each[0]):
        known = _KNOWN.get(language) or _KNOWN.get(language.split("-")[0])
        if known is not None:
            return known
    return ENGLISH
