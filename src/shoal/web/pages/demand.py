"""Demand: what the release must promise, what it may leave out, and what matters most.

The parts of the page are functions here, one for each card; sensitive columns and levels have files
of their own. The side panel says what is known at once (demand_side.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import Request
from nicegui import ui

from shoal.web.pages.components import (
    attributes,
    box,
    choice,
    hint,
    panel,
    short,
    text,
)
from shoal.web.pages.demand_columns import LevelsAndPriorities
from shoal.web.pages.demand_editor import DemandEditor
from shoal.web.pages.demand_recoding import RecodingChoice
from shoal.web.pages.demand_sensitive import SensitiveColumns
from shoal.web.pages.demand_side import DemandSide
from shoal.web.pages.frame import StepFrame, step_page
from shoal.web.pages.searched import says_what_comes_first
from shoal.web.pages.slider import Slider
from shoal.web.pages.terms import TERMS
from shoal.web.pages.theme import static
from shoal.web.security import user_of
from shoal.web.steps import quasi_identifiers
from shoal.web.users import require

if TYPE_CHECKING:
    from nicegui.elements.mixins.text_element import TextElement

    from shoal.web.services import Services

MOST_DOTS = 60
SLIDER_TOP = 50
LOSSES = {
    "iyengar": "Iyengar: how many original values a label stands for",
    "precision": "Precision: how far up its hierarchy",
    "entropy": "Entropy: information about the original values",
    "weighted": "Weighted: what the hierarchy says each level costs",
    "discernibility": "Discernibility: large classes cost",
    "class-size": "Class size: classes larger than k cost",
}


def register(services: Services) -> None:
    """Define the page."""

    @ui.page("/project/{id}/demand")
    def page(request: Request, id: str) -> None:
        user = user_of(request)
        require(user, "custodian")
        project = services.projects.get(id, user.name)
        ui.add_head_html(f'<link rel="stylesheet" href="{static("demand.css")}">')
        with step_page(services, user, project, "demand") as frame:
            with frame.main:
                frame.title("Demand", "What must the release promise, and what may it cost?")
            if not says_what_comes_first(frame):
                _Page(frame).build()


class _Page:
    """All cards of the page, and the side that follows them."""

    def __init__(self, frame: StepFrame) -> None:
        self.frame = frame
        self.editor = DemandEditor(frame, self._changed)
        self.example: TextElement

    def build(self) -> None:
        with self.frame.side:
            self.side = DemandSide(self.editor, on_counted=self._counted)
        with self.frame.main:
            self.editor.other_mistakes_here()
            with panel("How many must look alike", "k-anonymity"):
                _k(self.editor, self)
            with panel("How many may be left out", "suppression"):
                self._suppression()
            with panel("How values are generalized", "recoding"):
                RecodingChoice(self.editor).build()
            with panel("What nobody may learn", "sensitive"):
                SensitiveColumns(self.editor).build()
            with panel("What matters most", "quasi-identifier"):
                self.columns = LevelsAndPriorities(self.editor)
                self.columns.show(())
            with panel("How high the risk may be", "average risk"):
                _risk(self.editor)
            with panel(), ui.expansion("More: missing values, loss, time").classes("more"):
                _more(self.editor)
        self.editor.check()
        self.side.build()

    def _counted(self, found: Mapping[str, Any]) -> None:
        self.columns.show(found["attributes"])
        self.show_suppression()
        self.example.text = _example(found["attributes"])

    def _changed(self) -> None:
        self.show_suppression()
        self.side.changed()

    def _suppression(self) -> None:
        editor = self.editor
        said = editor.get("suppression")
        self._as_number = isinstance(said, int) and said > 0
        with box("line"):
            kind = choice(
                {"share": "Share", "number": "Number"},
                "number" if self._as_number else "share",
                lambda event: self._switch(event.value),
                label="How the limit is given",
            )
            attributes(kind, aria_label="How the limit is given")
            self._field = box("line tight")
        self._field_of_suppression()
        editor.mistakes_here("suppression")
        self._suppression_words = text("p", "", "quiet")
        self.show_suppression()

    def _field_of_suppression(self) -> None:
        editor = self.editor
        self._field.clear()
        with self._field:
            if self._as_number:
                editor.number("Records that may be left out", ("suppression",), whole=True)
                text("span", "records")
                return
            share = _share(editor.get("suppression"))
            made = ui.number(value=round(100 * share, 8), format="%.10g")
            made.props("outlined dense debounce=400 step=any suffix=%").style("width: 110px")
            attributes(made, aria_label="Share of records that may be left out")
            text("span", "of the records")

            def save() -> None:
                value = made.value
                editor.set(("suppression",), None if value is None else f"{value:.10g}%")

            made.on_value_change(save)

    def _switch(self, kind: str) -> None:
        """Say the same limit the other way, as far as the number of records is known."""
        self._as_number = kind == "number"
        records, said = self.side.records, self.editor.get("suppression")
        if self._as_number:
            self.editor.set(("suppression",), int(round(_share(said) * (records or 0), 9)))
        else:
            share = (said or 0) / records if records and isinstance(said, int) else 0
            self.editor.set(("suppression",), f"{100 * share:.4g}%")
        self._field_of_suppression()

    def show_suppression(self) -> None:
        """Say how many records the limit means."""
        limit, numbers = self.side.limit, self.frame.numbers
        if limit is None or self.side.records is None:
            words = "Records that stand out may be left out, so that the others keep more detail."
        elif limit == 0:
            words = "No record may be left out. Leaving out a few often saves detail for the rest."
        else:
            words = f"Up to {numbers.of(limit, self.side.records)} may be left out."
        self._suppression_words.text = words


def _k(editor: DemandEditor, page: _Page) -> None:
    said = editor.get("k")
    k = said if isinstance(said, int) else 5
    with box("k-line"):
        field = editor.number("k: how many look alike", ("k",), whole=True)
        slider = Slider(
            "k: how many look alike",
            max(k, 2),
            least=2,
            most=max(SLIDER_TOP, k),
            on_move=lambda value: moved(int(value)),
            on_change=lambda value: field.set_value(int(value)),
        )
    editor.mistakes_here("k")
    dots = attributes(box("dots"), aria_hidden="true")
    words = text("p", "", "lead")
    page.example = text("p", "", "quiet")

    def moved(value: int) -> None:
        """While the slider moves, only the picture follows; it is saved when it is let go."""
        words.text = _meaning(editor, value)
        dots.clear()
        with dots:
            for number in range(min(value, MOST_DOTS)):
                box("dot-one first" if number == 0 else "dot-one", "span")
            if value > MOST_DOTS:
                more = editor.frame.numbers.count(value - MOST_DOTS)
                text("span", f"and {more} more", "small quiet")

    def typed() -> None:
        value = field.value
        if isinstance(value, int | float) and 2 <= value == int(value):
            slider.show(value, max(SLIDER_TOP, value))
            moved(int(value))

    field.on_value_change(typed)
    if k >= 2:
        moved(k)


def _meaning(editor: DemandEditor, k: int) -> str:
    """What k means, with the columns of the data."""
    numbers = editor.frame.numbers
    names = quasi_identifiers(editor.frame.project)
    known = _joined(names if len(names) <= 4 else [*names[:4], "more"])
    noun = "people" if editor.get("person") else "records"
    return (
        f"Whoever knows somebody's {known} finds at least {numbers.count(k)} {noun} that look the "
        f"same: the chance to pick the right one is at most 1 in {numbers.count(k)}, "
        f"{numbers.percent(1 / k, 1)}."
    )


def _example(attributes: Sequence[Mapping[str, Any]]) -> str:
    """How the records of a class could read: labels from the middle of each hierarchy."""
    labels = []
    for each in attributes:
        middle = (each["lowest"] + each["limit"] + 1) // 2
        known = [level for level in each["levels"][middle:] if level["example"] not in (None, "*")]
        if known:
            labels.append(f"{short(each['name'])} {short(known[0]['example'])}")
    return f"For example, they could all read: {', '.join(labels)}." if labels else ""


def _joined(names: list[str]) -> str:
    words = [short(name) for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _share(said: Any) -> float:
    """A suppression limit as a share; a number of records counts as none."""
    if isinstance(said, str) and said.strip().endswith("%"):
        try:
            return float(said.strip()[:-1]) / 100
        except ValueError:
            return 0.0
    return float(said) if isinstance(said, float) else 0.0


def _risk(editor: DemandEditor) -> None:
    text("p", "The risk of a record is 1 divided by the size of its class.", "quiet")
    for key, first, build in (
        (("risk", "average"), 0.1, _average),
        (("risk", "records above"), {"threshold": 0.2, "share": "1%"}, _above),
    ):
        _risk_row(editor, key, first, build)
    editor.mistakes_here("risk")


def _risk_row(editor: DemandEditor, key: tuple[str, ...], first: Any, build: Any) -> None:
    with box("demand-row"):
        switch = ui.switch(value=editor.get(*key) is not None)
        fields = box("line tight grow")

    def fill() -> None:
        fields.clear()
        with fields:
            attributes(switch, aria_label=build(editor, key, editor.get(*key) is not None))

    def switched() -> None:
        editor.set(key, first if switch.value else None)
        fill()

    fill()
    switch.on_value_change(switched)
    editor.mistakes_here(*key)


def _average(editor: DemandEditor, key: tuple[str, ...], on: bool) -> str:
    if on:
        text("span", "On average at most")
        editor.number("Average risk", key, percent=True)
    else:
        text("span", "Limit the average risk", "quiet")
    hint("average risk")
    return "Limit the average risk"


def _above(editor: DemandEditor, key: tuple[str, ...], on: bool) -> str:
    if on:
        text("span", "At most")
        made = ui.number(value=round(100 * _share(editor.get(*key, "share")), 8), format="%.10g")
        made.props("outlined dense debounce=400 step=any suffix=%").style("width: 110px")
        attributes(made, aria_label="Share of the records")
        made.on_value_change(
            lambda: editor.set(
                (*key, "share"), None if made.value is None else f"{made.value:.10g}%"
            )
        )
        text("span", "of the records with a risk above")
        editor.number("Threshold of the risk", (*key, "threshold"), percent=True)
    else:
        text("span", "Limit the records with a high risk", "quiet")
    hint("records above")
    return "Limit the records above a risk"


def _more(editor: DemandEditor) -> None:
    with box("stack"):
        with box("stack tight"):
            with box("with-hint"):
                text("h3", "Missing values of quasi-identifiers")
                hint("missing")
            match = editor.get("missing", "match") or "extended"
            ui.radio(
                {
                    "extended": "look like other missing values",
                    "basic": "their records are left out before everything else",
                },
                value=match if match in ("extended", "basic") else "extended",
                on_change=lambda event: editor.set(("missing", "match"), event.value),
            )
            editor.mistakes_here("missing")
        with box("stack tight"):
            with box("with-hint"):
                text("h3", "What is counted as lost")
                hint("loss")
            _loss(editor)
        _time(editor)
        strict = ui.switch(
            "Refuse a release that has any warning", value=bool(editor.get("strict"))
        )
        strict.on_value_change(lambda: editor.set(("strict",), strict.value or None))


def _loss(editor: DemandEditor) -> None:
    said = editor.get("loss", "name") or "iyengar"
    options = dict(LOSSES) if said in LOSSES else {**LOSSES, said: said}
    made = ui.select(options, value=said).props("outlined dense options-dense")
    attributes(made, aria_label="What is counted as lost")
    about = text("p", TERMS.get(said, ""), "quiet small")

    def save() -> None:
        about.text = TERMS.get(made.value, "")
        editor.set(("loss", "name"), None if made.value == "iyengar" else made.value)

    made.on_value_change(save)
    editor.mistakes_here("loss")


def _time(editor: DemandEditor) -> None:
    with box("stack tight"):
        text("h3", "Longest search")
        said = editor.get("search", "time limit")
        with box("line tight"):
            made = ui.input(value="" if said is None else str(said), placeholder="no limit")
            made.props("outlined dense debounce=500").style("width: 160px")
            attributes(made, aria_label="Longest search, such as 60 s or 5 min")
            text("span", "such as 60 s or 5 min; then the best found so far is kept", "quiet")
        made.on_value_change(
            lambda: editor.set(("search", "time limit"), (made.value or "").strip() or None)
        )
        editor.mistakes_here("search")
