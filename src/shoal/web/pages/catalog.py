"""The catalog of the mart: sources as cards, columns with their hierarchies; never a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from fastapi import Request
from nicegui import ui

from shoal.mart.describe import policy_lines
from shoal.web.pages.components import (
    attributes,
    box,
    button,
    choice,
    empty_state,
    labelled,
    note,
    panel,
    role_chip,
    text,
)
from shoal.web.pages.mart_words import mart_page
from shoal.web.security import user_of
from shoal.web.users import require

if TYPE_CHECKING:
    from shoal.mart.describe import Column
    from shoal.web.mart.catalog import CatalogView
    from shoal.web.pages.frame import Frame
    from shoal.web.services import Services

MANY = 6
"""So many alike kept columns of a source are shown as one line."""
ROLES = {"": "All", "quasi-identifier": "Generalized", "sensitive": "Sensitive", "keep": "Kept"}


def register(services: Services) -> None:
    """Define the page."""

    @ui.page("/catalog")
    def catalog(request: Request) -> None:
        user = user_of(request)
        require(user, "researcher", "custodian")
        with mart_page(services, user, "Catalog") as frame:
            CatalogPage(frame, services.mart.view(user)).build()


class CatalogPage:
    """What the mart shares, with a search over names, labels and rules."""

    def __init__(self, frame: Frame, view: CatalogView) -> None:
        self._frame, self._view = frame, view
        self._wanted, self._role = "", ""

    def build(self) -> None:
        """Lead, search, policy, and a card for each source."""
        view, numbers = self._view.description, self._frame.numbers
        columns = numbers.things(len(view.columns), "column")
        sources = numbers.things(len({each.source for each in view.columns}), "source")
        text(
            "p",
            f"The mart {view.mart} shares {columns} of {sources}. This page shows names, labels "
            "and rules. Nobody sees a record here.",
            "quiet lead break",
        )
        if "researcher" in self._frame.user.roles:
            with box("line"):
                go = lambda: ui.navigate.to("/request/new")  # noqa: E731
                button("Ask for data", go, kind="primary", icon="add")
        if view.closed:
            note(f"Not open to you: {', '.join(view.closed)}. Ask the owner of the mart.")
        with panel("What every request must keep to"), box("stack tight", "ul"):
            for line in policy_lines(view.policy):
                text("li", line, "break")
        with box("mart-search"):
            field = ui.input("Search names, labels and rules", on_change=self._search)
            field.props('outlined dense debounce=200 type="search"')
            choice(ROLES, "", self._filter, label="Which columns")
        self._cards()

    def _search(self, event: Any) -> None:
        self._wanted = str(event.value or "").casefold().strip()
        self._cards.refresh()

    def _filter(self, event: Any) -> None:
        self._role = event.value or ""
        self._cards.refresh()

    @ui.refreshable_method
    def _cards(self) -> None:
        shown = [each for each in self._view.description.columns if self._is_shown(each)]
        all_of_them = self._frame.numbers.things(len(shown), "column")
        said = text("div", f"{all_of_them} shown", "sr-only")
        attributes(said, role="status", aria_live="polite")
        if not shown:
            empty_state("search_off", "No column fits", "Search for another word, or for fewer.")
            return
        with box("mart-cards"):
            for source, columns in groupby(shown, lambda each: each.source):
                self._source(source, list(columns))

    def _is_shown(self, column: Column) -> bool:
        if self._role and column.role != self._role:
            return False
        if not self._wanted:
            return True
        labels = (label for level in column.levels for label in level.labels or ())
        rules = (level.rule for level in column.levels)
        words = (column.name, column.source, column.derive or "", *labels, *rules)
        return any(self._wanted in each.casefold() for each in words)

    def _source(self, source: str, columns: Sequence[Column]) -> None:
        with panel(source, classes="dense break"):
            if reason := self._view.description.untransformed.get(source):
                note(f"Released unchanged. {reason}")
            with box("", "div"):
                for kept, group in groupby(columns, _is_plain):
                    run = list(group)
                    if kept and len(run) >= MANY:
                        _many(run)
                    else:
                        for column in run:
                            self._column(column)

    def _column(self, column: Column) -> None:
        with box("mart-column"):
            with box("line between tight"):
                text("div", column.name, "name")
                role_chip(column.role)
            if column.derive is not None:
                text("div", "computed as", "quiet small")
                text("code", column.derive, "break")
            for demand in column.demands:
                text("div", f"demands {demand}", "quiet small break")
            limits = [f"released from level {column.lowest} on"] if column.lowest else []
            limits += [f"at most level {column.limit}"] if column.limit is not None else []
            if limits:
                text("div", ", ".join(limits), "quiet small")
            if column.role == "quasi-identifier" and not column.levels:
                text("div", "its levels are proposed from its values", "quiet small")
            if column.levels:
                with ui.expansion(f"{len(column.levels)} levels").classes("small"):
                    self._levels(column)

    def _levels(self, column: Column) -> None:
        tree = self._view.trees.get(column.name)
        with box("mart-levels", "dl"):
            for level in column.levels:
                text("dt", f"Level {level.level}")
                labels = level.labels
                shown = level.rule if labels is None or len(labels) > 12 else ", ".join(labels)
                if labels is not None and len(labels) > 12:
                    shown = f"{len(labels)} labels, from {labels[0]} to {labels[-1]}"
                text("dd", shown)
        if tree:
            labelled("As a tree", "hierarchy")
            show_tree(tree)


def show_tree(nodes: Sequence[Mapping[str, Any]], most: int = 200) -> None:
    """The labels of a hierarchy from the top, as nested lists."""
    with box("mart-tree small", "ul"):
        for node in nodes[:most]:
            with box("", "li"):
                text("span", str(node["label"]))
                if node["children"]:
                    show_tree(node["children"], most)
        if len(nodes) > most:
            text("li", f"and {len(nodes) - most} more", "quiet")


def _is_plain(column: Column) -> bool:
    return column.role == "keep" and column.derive is None and not column.demands


def _many(columns: Sequence[Column]) -> None:
    with box("mart-column"):
        with box("line between tight"):
            text("div", f"{columns[0].name} to {columns[-1].name}", "name")
            role_chip("keep")
        with ui.expansion(f"{len(columns)} columns").classes("small"):
            text("div", ", ".join(each.name for each in columns), "break small")
