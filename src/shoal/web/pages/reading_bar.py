"""How the file is read: what was guessed, why, and a way to change each of it.

A change is stated from then on; everything that is not stated is guessed anew to fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nicegui import ui

from shoal.web.pages.components import attributes, badge, box, panel, text

Reread = Callable[[dict[str, Any], list[str] | None], None]
"""Takes what is stated of the file, and the texts for missing values or None to guess them."""

_TITLES = {
    "format": "Kind of file",
    "sheet": "Sheet",
    "delimiter": "Cells are separated by",
    "decimal": "Decimal mark",
    "encoding": "Encoding",
    "header": "Row with the names",
    "quote": "Quotes",
}
_WORDS: Mapping[str, Mapping[Any, str]] = {
    "delimiter": {",": "comma ,", ";": "semicolon ;", "\t": "tab", "|": "bar |", " ": "space"},
    "decimal": {",": "comma 1.234,5", ".": "point 1,234.5", None: "point 1234.5"},
    "header": {True: "row 1", False: "none: names are made up"},
    "format": {"csv": "CSV", "excel": "Excel", "json": "JSON", "xml": "XML", "parquet": "Parquet"},
}
_MOST_ROWS_ABOVE = 10
_RARE = ("format", "quote")
"""What hardly anybody has to change, so it is shown under "more"."""


class ReadingBar:
    """A field for each guess, and one for the texts that mean missing."""

    def __init__(
        self, reading: Mapping[str, Any] | None, missing: Sequence[str], reread: Reread
    ) -> None:
        self._guesses: Sequence[Mapping[str, Any]] = reading["guesses"] if reading else ()
        self._reasons = {
            each["text"]: each["reason"] for each in (reading or {}).get("missing", ())
        }
        self._missing, self._reread = list(missing), reread

    def build(self) -> None:
        """Show the bar."""
        with panel("How the file is read", classes="dense"):
            with box("reading"):
                for guess in self._guesses:
                    if self._is_offered(guess) and guess["key"] not in _RARE:
                        self._choice(guess)
                self._missing_field()
            rare = [each for each in self._guesses if each["key"] in _RARE]
            if any(map(self._is_offered, rare)):
                with ui.expansion("More about the file"), box("reading"):
                    for guess in filter(self._is_offered, rare):
                        self._choice(guess)

    def _is_offered(self, guess: Mapping[str, Any]) -> bool:
        return guess["key"] in _TITLES and bool(guess["alternatives"] or guess["key"] == "header")

    def _choice(self, guess: Mapping[str, Any]) -> None:
        key, value = guess["key"], guess["value"]
        options = {each: words_for(key, each) for each in self._options(guess)}
        with box():
            ui.select(
                options,
                value=value,
                label=_TITLES[key],
                on_change=lambda event: self._change(key, event.value),
            ).props("outlined dense options-dense").classes("reading-field")
            self._reason(guess)

    def _options(self, guess: Mapping[str, Any]) -> list[Any]:
        if guess["key"] == "header":
            rows: list[Any] = [True, False, *range(2, _MOST_ROWS_ABOVE + 1)]
            return rows if guess["value"] in rows else [*rows, guess["value"]]
        return list(dict.fromkeys((guess["value"], *guess["alternatives"])))

    def _reason(self, guess: Mapping[str, Any]) -> None:
        with box("reading-reason"):
            badge("you chose" if guess["stated"] else "guessed")
            text("span", "" if guess["stated"] else f" {guess['reason']}")

    def _missing_field(self) -> None:
        with box("wide"):
            chips = ui.input_chips(
                "Texts that mean missing",
                value=self._missing,
                new_value_mode="add-unique",
                on_change=lambda event: self._reread(self._stated(), list(event.value or ())),
            ).props("outlined")
            attributes(chips, aria_label="Texts that mean missing")
            text("div", self._missing_reason(), "reading-reason")

    def _missing_reason(self) -> str:
        """Why these texts mean missing; each reason once."""
        texts_of: dict[str, list[str]] = {}
        for each in self._missing:
            if each in self._reasons:
                texts_of.setdefault(self._reasons[each], []).append(each)
        said = [f"{', '.join(texts)}: {reason}" for reason, texts in texts_of.items()]
        said.append("Empty cells are always missing. Type a text and press Enter to add it.")
        return " ".join(said)

    def _stated(self) -> dict[str, Any]:
        return {each["key"]: each["value"] for each in self._guesses if each["stated"]}

    def _change(self, key: str, value: Any) -> None:
        self._reread({**self._stated(), key: value}, None)


def words_for(key: str, value: Any) -> str:
    """A value of a key in words."""
    if key == "header" and value not in (True, False):
        return f"row {value}"
    if key == "header":
        return _WORDS[key][bool(value)]
    return _WORDS.get(key, {}).get(value) or ("none" if value in (None, "") else str(value))
