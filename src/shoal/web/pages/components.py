"""The parts that pages are made of. Each shows text as text: nothing here builds HTML from values.

Words first (`text`, `hint`, `labelled`), then what says something (`fact`, `note`, `problem_card`,
`role_chip`, `empty_state`), then what is used (`button`, `panel`, `dialog`, `record_table`,
`chart`). Numbers are written by `shoal.web.numbers`; the progress of a job is in job_progress.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from shoal.errors import BadDefinition, Infeasible, ShoalError
from shoal.web.pages.terms import TERMS

Kind = Literal["plain", "primary", "quiet", "danger"]
E = TypeVar("E", bound=ui.element)
Tone = Literal["info", "good", "warning", "problem"]

_ICONS: Mapping[str, str] = {
    "info": "info",
    "good": "check_circle",
    "warning": "warning",
    "problem": "error",
}
ROLE_SIGNS: Mapping[str, tuple[str, str]] = {
    "identifier": ("#", "identifier"),
    "person": ("@", "person"),
    "quasi-identifier": ("~", "quasi-identifier"),
    "sensitive": ("!", "sensitive"),
    "keep": ("=", "kept"),
    "drop": ("\N{MULTIPLICATION SIGN}", "dropped"),
}
"""The sign and the word of each role: colour alone never says anything."""


def text(tag: str, content: str = "", classes: str = "") -> TextElement:
    """An element of this tag with a text: `text("h2", "Levels")`."""
    return TextElement(tag=tag, text=content).classes(classes)


def box(classes: str = "", tag: str = "div") -> ui.element:
    """A container: `with box("stack tight"):`."""
    return ui.element(tag).classes(classes)


def attributes(element: E, **values: str) -> E:
    """Set attributes of an element to any text: `attributes(e, aria_label=name)`."""
    for name, value in values.items():
        element.props[name.replace("_", "-")] = value
    return element


def short(name: str, most: int = 40) -> str:
    """A name of the data in a sentence: cut where it is long."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def hint(term: str, explanation: str | None = None) -> ui.button:
    """A small button that explains a term of terms.py, or shows the explanation given."""
    button = ui.button("?", color=None).props("flat round").classes("hint-btn")
    attributes(button, aria_label=f"What is {term}?")
    with button, ui.menu().props('anchor="bottom left" self="top left"'), box("hint-text"):
        text("div", term[:1].upper() + term[1:], "strong")
        text("div", explanation or TERMS[term])
    return button


def labelled(content: str, term: str | None = None, tag: str = "h3") -> ui.element:
    """A heading or label with a hint beside it."""
    with box("with-hint") as line:
        text(tag, content)
        if term is not None:
            hint(term)
    return line


def button(
    label: str,
    on_click: Callable[..., Any] | None = None,
    *,
    kind: Kind = "plain",
    icon: str | None = None,
    small: bool = False,
) -> ui.button:
    """A button. A page has one of kind `primary`, made by `Frame.primary`."""
    made = ui.button(label, on_click=on_click, icon=icon, color=None).props("flat no-caps")
    look = {"plain": "", "primary": "primary", "quiet": "quiet-btn", "danger": "danger"}[kind]
    return made.classes(f"btn {look}{' small-btn' if small else ''}")


def icon_button(icon: str, label: str, on_click: Callable[..., Any] | None = None) -> ui.button:
    """A button with only an icon; the label is read out and shown on hover."""
    made = ui.button(icon=icon, on_click=on_click, color=None).props("flat")
    attributes(made, aria_label=label)
    with made.classes("btn quiet-btn icon-btn"):
        ui.tooltip(label)
    return made


def choice(
    options: Mapping[Any, str],
    value: Any,
    on_change: Callable[..., Any] | None = None,
    *,
    label: str,
) -> ui.toggle:
    """A few alternatives as buttons side by side, one of them pressed."""
    made = ui.toggle(dict(options), value=value, on_change=on_change)
    made.props("flat no-caps toggle-color=chosen text-color=choice").classes("choice")
    attributes(made, role="group", aria_label=label)
    return made


@contextmanager
def panel(
    title: str | None = None, term: str | None = None, *, classes: str = ""
) -> Iterator[ui.element]:
    """A card with an optional heading."""
    with box(f"panel {classes}", "section") as made:
        if title is not None:
            labelled(title, term, "h2")
        yield made


@contextmanager
def dialog(title: str) -> Iterator[ui.dialog]:
    """A dialog with a heading and a button to close it; open it with `.open()`."""
    with ui.dialog() as made, box("dialog") as inside:
        attributes(inside, role="document")
        attributes(made, aria_label=title)
        with box("line between"):
            text("h2", title)
            icon_button("close", "Close", made.close)
        yield made


def fact(
    label: str, value: str, note: str = "", *, term: str | None = None, as_text: bool = False
) -> TextElement:
    """A number that matters, its name above, a remark below; returns the element of the value."""
    with box("fact"):
        with box("with-hint"):
            text("div", label, "label")
            if term is not None:
                hint(term)
        shown = text("div", value, "value text" if as_text else "value")
        if note:
            text("div", note, "note")
    return shown


def note(content: str, tone: Tone = "info", *, title: str = "") -> ui.element:
    """A remark in a soft box. Use it as a context manager to put buttons under the text."""
    with box(f"note-card {tone if tone != 'info' else ''}") as card:
        attributes(card, role="alert" if tone == "problem" else "note")
        ui.icon(_ICONS[tone]).props("aria-hidden=true")
        body = box("body")
        with body:
            if title:
                text("div", title, "strong")
            if content:
                text("div", content)
    return body


def problem_card(problem: ShoalError | Mapping[str, Any]) -> ui.element:
    """What went wrong, where, and what to do: the texts and the code of the command line.

    Takes an error or the problem of a job. Returns the body, so that buttons can be put into it.
    """
    if isinstance(problem, ShoalError):
        problem = _members(problem)
    mistakes: Sequence[Mapping[str, Any]] = problem.get("mistakes", ())
    first, *reasons = problem.get("reasons") or ("",)
    title = first or problem.get("detail") or problem.get("title", "")
    body = note("", "problem", title="" if mistakes else _capital(str(title)))
    with body:
        if mistakes:
            text("div", f"{len(mistakes)} to correct in the definition", "strong")
            _listed([f"{each['key']}: {each['what']}; {each['remedy']}" for each in mistakes])
        if reasons:
            _listed([_capital(str(reason)) for reason in reasons])
        if hint_text := problem.get("hint"):
            text("div", _capital(str(hint_text)))
        text("div", str(problem.get("code", "")), "code")
    return body


def role_chip(role: str) -> ui.element:
    """The role of a column: its colour, its sign and its word."""
    sign, word = ROLE_SIGNS[role]
    return attributes(text("span", word, f"role {role}"), data_sign=sign)


def badge(content: str, meaning: Literal["", "safe", "unsafe", "warn", "best"] = "") -> TextElement:
    """A short word in a pill: `badge("safe", "safe")`."""
    return text("span", content, f"badge {meaning}")


def empty_state(icon: str, title: str, content: str) -> ui.element:
    """What to do where there is nothing yet; put the button into it: `with empty_state(...):`."""
    with box("empty") as made:
        ui.icon(icon).props("aria-hidden=true")
        text("h2", title)
        text("p", content, "text")
    return made


def meter(share: float, label: str) -> ui.element:
    """A thin bar for a share from 0 to 1; the label is read out."""
    bar = box("meter", "span")
    attributes(bar, role="img", aria_label=label)
    with bar:
        box("", "span").style(f"width: {100 * min(max(share, 0.0), 1.0):.2f}%")
    return bar


def local_time(seconds: float, *, full: bool = False) -> ui.element:
    """A moment in the reader's time zone: the time, with the date where it is not today."""
    made = attributes(ui.element("local-time"), datetime=_iso(seconds))
    return attributes(made, format="full") if full else made


def set_time(element: ui.element, seconds: float) -> None:
    """Let a `local_time` show another moment."""
    attributes(element, datetime=_iso(seconds)).update()


def record_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    caption: str,
    numbers: Sequence[str] = (),
    height: str = "420px",
) -> ui.element:
    """A table of a few records, which scrolls inside itself; None is shown as missing.

    Columns named in `numbers` are aligned right. For at most some hundred rows.
    """
    right = set(numbers)
    with (
        attributes(box("records-box"), tabindex="0", role="region", aria_label=caption).style(
            f"max-height: {height}"
        ) as outer,
        box("records", "table"),
    ):
        with box("", "thead"), box("", "tr"):
            for name in columns:
                attributes(text("th", name, "number" if name in right else ""), scope="col")
        with box("", "tbody"):
            for row in rows:
                with box("", "tr"):
                    for name, value in zip(columns, row, strict=True):
                        look = "missing" if value is None else "number" if name in right else ""
                        text("td", "missing" if value is None else str(value), look)
    return outer


INK, INK_2, INK_3, LINE, ACCENT = (
    f"var(--{n})" for n in ("ink", "ink-2", "ink-3", "line", "accent")
)
"""Colours for charts: drawn as SVG, they follow the theme like everything else."""


def chart(options: Mapping[str, Any], label: str, *, height: str = "320px") -> ui.echart:
    """An ECharts chart in the page's colours; `label` says in words what it shows."""
    base = {
        "animationDuration": 200,
        "textStyle": {"fontFamily": "Roboto, system-ui, sans-serif", "color": INK_2},
        "grid": {"left": 8, "right": 16, "top": 32, "bottom": 8, "containLabel": True},
    }
    made = ui.echart({**base, **options}, renderer="svg").style(f"height: {height}; width: 100%")
    attributes(made, role="img", aria_label=label)
    return made


def axis(kind: str, name: str = "", **more: Any) -> dict[str, Any]:
    """An axis of a chart in the page's colours."""
    return {
        "type": kind,
        "name": name,
        "nameTextStyle": {"color": INK_2, "align": "left"},
        "axisLine": {"lineStyle": {"color": LINE}},
        "axisTick": {"show": False},
        "axisLabel": {"color": INK_2},
        "splitLine": {"lineStyle": {"color": LINE}},
        **more,
    }


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _listed(lines: Sequence[str]) -> None:
    with box("", "ul"):
        for line in lines:
            text("li", line)


def _members(error: ShoalError) -> dict[str, Any]:
    """The parts of an error that a problem of a job has too."""
    found: dict[str, Any] = {"detail": error.what, "hint": error.hint, "code": error.code}
    if isinstance(error, BadDefinition):
        found["mistakes"] = [vars(mistake) for mistake in error.mistakes]
    if isinstance(error, Infeasible):
        found["reasons"] = error.reasons
        found["remedies"] = error.remedies
    return found


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
