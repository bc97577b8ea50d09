"""One column on the page Columns: what it is, its role as buttons, why, and what it risks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.web.column_roles import ROLES
from shoal.web.pages.components import (
    ROLE_SIGNS,
    attributes,
    box,
    button,
    choice,
    hint,
    meter,
    note,
    text,
)

if TYPE_CHECKING:
    from shoal.web.numbers import Numbers

_RELEASED = ("keep", "sensitive")
"""Roles whose values are released unchanged."""
_BUTTONS = {
    "identifier": "Identifier",
    "person": "Person",
    "quasi-identifier": "Quasi-identifier",
    "sensitive": "Sensitive",
    "keep": "Keep",
    "drop": "Drop",
}


class ColumnCard:
    """A card; `show` lets it show another role."""

    def __init__(
        self,
        profile: Mapping[str, Any],
        records: int,
        numbers: Numbers,
        change: Callable[[str], None],
    ) -> None:
        self._profile, self._records, self._numbers = profile, records, numbers
        self._change = change
        self._silent = False

    def build(self, role: str | None) -> None:
        """Make the card."""
        name = self._profile["name"]
        self._card = box("column-card", "li")
        with self._card:
            with box("stack tight"):
                with box("line tight"):
                    attributes(text("h3", name), title=name)
                text("div", self._counts(), "quiet small num")
            self._risks()
            with box("stack tight wide"):
                options = {each: f"{ROLE_SIGNS[each][0]} {_BUTTONS[each]}" for each in ROLES}
                self._choice = choice(options, role, self._chosen, label=f"Role of {name}")
                self._suggestion()
                self._warnings = box("stack tight")
        self.show(role)

    def show(self, role: str | None) -> None:
        """Show a role that was chosen here or elsewhere."""
        self._silent = True
        self._choice.value = role
        self._silent = False
        attributes(self._card, data_role=role or "").update()
        self._use.visible = role != self._suggested
        self._show_warnings(role)

    @property
    def _suggested(self) -> str:
        return str(self._profile["suggested"])

    def _chosen(self) -> None:
        if not self._silent and self._choice.value:
            self._change(str(self._choice.value))

    def _counts(self) -> str:
        numbers, profile = self._numbers, self._profile
        parts = [profile["type"], numbers.things(profile["distinct"], "distinct value")]
        if profile["missing"]:
            parts.append(f"{numbers.of(profile['missing'], self._records)} missing")
        return " \N{MIDDLE DOT} ".join(parts)

    def _suggestion(self) -> None:
        word = ROLE_SIGNS[self._suggested][1]
        with box("line tight"):
            text("span", f"Suggested: {word}. {self._profile['reason']}", "small quiet break")
            suggested = self._suggested
            self._use = button(
                "Use the suggestion", lambda: self._change(suggested), kind="quiet", small=True
            )
        if kind := self._profile["identifier"]:
            about = f"Looks like: {kind} (one of the 18 kinds of identifiers of HIPAA)."
            text("div", about, "small quiet break")

    def _risks(self) -> None:
        with box("risk"):
            self._risk("distinction", "Different values", self._profile["distinction"])
            self._risk("separation", "Pairs told apart", self._profile["separation"])

    def _risk(self, term: str, label: str, share: float) -> None:
        said = self._numbers.percent(share, 1)
        with box("risk-line"):
            with box("line between"):
                with box("with-hint small"):
                    text("span", label)
                    hint(term)
                text("span", said, "small num")
            meter(share, f"{label}: {said}")

    def _show_warnings(self, role: str | None) -> None:
        self._warnings.clear()
        found: Sequence[Mapping[str, Any]] = self._profile["warnings"]
        with self._warnings:
            if role in _RELEASED:
                for each in found:
                    note(str(each["text"]), "warning")
