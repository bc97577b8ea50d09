"""Editors of hierarchies that are a list of steps: masks, dates, groups; and of those with none.

Each shows a hierarchy as a definition writes it and calls `change` with another one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from nicegui import ui

from shoal.definition.hierarchies.dates import UNITS, parse_date
from shoal.definition.hierarchies.mask import LONGEST_MASK
from shoal.web.pages.components import attributes, box, button, choice, icon_button, labelled, text

if TYPE_CHECKING:
    from shoal.web.numbers import Numbers

Change: TypeAlias = Callable[[Any], Awaitable[None]]
MOST_STEPS = 60
"""So many steps of a list can be edited."""
OWN_FORMAT = "own"
FORMATS: Mapping[str, str] = {
    "": "2026-03-31 (ISO)",
    "%d.%m.%Y": "31.03.2026",
    "%d/%m/%Y": "31/03/2026",
    "%m/%d/%Y": "03/31/2026",
    "%Y/%m/%d": "2026/03/31",
    OWN_FORMAT: "another format",
}


@dataclass(frozen=True)
class Edited:
    """What every editor needs: the column, its values, how to change the hierarchy."""

    column: str
    counts: Mapping[str, int]
    numbers: Numbers
    change: Change


class StepList:
    """Numbers in order, one for each level; each can be changed or removed, and one added."""

    def __init__(
        self,
        values: Sequence[float],
        unit: str,
        on_change: Callable[[list[float]], Awaitable[None]],
        following: Callable[[list[float]], float],
        *,
        whole: bool = False,
    ) -> None:
        self._values = list(values)
        self._unit, self._on_change, self._following = unit, on_change, following
        self._whole = whole
        self._box = box("steps-list")
        self._build()

    def _build(self) -> None:
        self._box.clear()
        with self._box:
            for index, value in enumerate(self._values):
                with box("step-line"):
                    text("span", f"Level {index + 1}", "name")
                    field = ui.number(value=value, on_change=self._setter(index))
                    field.props(f'outlined dense debounce=400 suffix="{self._unit}"')
                    attributes(field, aria_label=f"Level {index + 1}: {self._unit}")
                    remove = icon_button("close", f"Remove level {index + 1}", self._remover(index))
                    remove.enabled = len(self._values) > 1
            if len(self._values) < MOST_STEPS:
                button("Add a level", self._add, icon="add", small=True)

    def _setter(self, index: int) -> Callable[[Any], Awaitable[None]]:
        async def changed(event: Any) -> None:
            if event.value is None:
                return
            self._values[index] = int(event.value) if self._whole else event.value
            await self._on_change(list(self._values))

        return changed

    def _remover(self, index: int) -> Callable[[], Awaitable[None]]:
        async def remove() -> None:
            del self._values[index]
            self._build()
            await self._on_change(list(self._values))

        return remove

    async def _add(self) -> None:
        self._values.append(self._following(self._values))
        self._build()
        await self._on_change(list(self._values))


def edit_suppress() -> None:
    """There is nothing to choose."""
    text("p", "Each value is either shown as it is or hidden behind a star.", "quiet")


def edit_mask(hierarchy: Mapping[str, Any], edited: Edited) -> None:
    """How many characters each level hides, and from which end."""
    said = dict(hierarchy)
    mask = said["mask"]
    steps = list(range(1, mask + 1)) if isinstance(mask, int) else list(mask)
    said["mask"] = steps

    async def set_steps(values: list[float]) -> None:
        said["mask"] = [int(value) for value in values]
        await edited.change(_shortest(said))

    async def set_side(event: Any) -> None:
        said["from"] = event.value
        await edited.change(_shortest(said))

    text("p", "Each level hides more characters of every value behind stars.", "quiet")
    labelled("Hide from the")
    choice(
        {"right": "end", "left": "beginning"},
        said.get("from", "right"),
        set_side,
        label="Which end is hidden first",
    )
    labelled("Characters hidden at each level")
    if len(steps) > MOST_STEPS:
        text("p", f"{len(steps)} levels are too many to list here.", "quiet small")
        return
    StepList(
        steps,
        "characters",
        set_steps,
        lambda values: min(LONGEST_MASK, (values[-1] if values else 0) + 1),
        whole=True,
    )


def _shortest(said: dict[str, Any]) -> dict[str, Any]:
    """The mask as a definition writes it: `mask: 5` for the steps 1 to 5, no default side."""
    steps = said["mask"]
    mask = len(steps) if steps == list(range(1, len(steps) + 1)) else steps
    kept = {"mask": mask}
    return {**kept, "from": "left"} if said.get("from") == "left" else kept


def edit_groups(hierarchy: Mapping[str, Any], edited: Edited) -> None:
    """How many neighbours among the sorted values share a label at each level."""
    said = dict(hierarchy)

    async def set_sizes(values: list[float]) -> None:
        said["groups"] = [int(value) for value in values]
        await edited.change(dict(said))

    async def set_order(event: Any) -> None:
        said.pop("order", None)
        if event.value != "auto":
            said["order"] = event.value
        await edited.change(dict(said))

    text("p", "The values are sorted; so many neighbours share a label at each level.", "quiet")
    labelled("Sorted")
    choice(
        {"auto": "as they are", "text": "as texts", "number": "as numbers"},
        said.get("order", "auto"),
        set_order,
        label="How the values are sorted",
    )
    labelled("Values in a group at each level")
    StepList(
        _listed(said["groups"]),
        "values",
        set_sizes,
        lambda values: 2 * values[-1] if values else 5,
        whole=True,
    )


def edit_dates(hierarchy: Mapping[str, Any], edited: Edited) -> None:
    """The units, from short to long, and the format in which the dates are written."""
    said: dict[str, Any] = {**hierarchy, "date": _listed(hierarchy["date"])}
    chosen = set(said["date"])

    async def set_unit(unit: str, wanted: bool) -> None:
        (chosen.add if wanted else chosen.discard)(unit)
        said["date"] = [each for each in UNITS if each in chosen]
        await edited.change(dict(said))

    async def set_format(pattern: str) -> None:
        said.pop("format", None)
        if pattern:
            said["format"] = pattern
        _show_fitting(fitting, pattern or None, edited)
        await edited.change(dict(said))

    text("p", "Each level joins the dates of a longer unit of time.", "quiet")
    labelled("Units, from short to long")
    with box("line", "div") as units:
        attributes(units, role="group", aria_label="Units of time")
        for unit in UNITS:
            ui.checkbox(
                unit,
                value=unit in chosen,
                on_change=lambda event, unit=unit: set_unit(unit, event.value),
            )
    pattern = said.get("format") or ""
    with box("line"):
        select = ui.select(
            dict(FORMATS),
            label="Dates are written as",
            value=pattern if pattern in FORMATS else OWN_FORMAT,
        ).props("outlined dense options-dense")
        select.style("min-width: 220px")
        own = ui.input("Format", value=pattern).props("outlined dense debounce=500")
        own.bind_visibility_from(select, "value", value=OWN_FORMAT)
    text("p", "%d day, %m month, %Y year, %H hour, %M minute.", "quiet small").bind_visibility_from(
        select, "value", value=OWN_FORMAT
    )
    fitting = text("p", "", "quiet small")
    _show_fitting(fitting, pattern or None, edited)

    async def chose(event: Any) -> None:
        if event.value != OWN_FORMAT:
            await set_format(event.value)

    select.on_value_change(chose)
    own.on_value_change(lambda event: set_format(event.value or ""))


def _show_fitting(element: Any, pattern: str | None, edited: Edited) -> None:
    fit = sum(parse_date(value, pattern) is not None for value in edited.counts)
    element.text = (
        f"{edited.numbers.of(fit, len(edited.counts), 'values')} are dates of this format."
    )


def edit_builder(hierarchy: Any) -> None:
    """What a plug-in makes of the values is not edited here."""
    name = hierarchy.get("builder") or next(iter(hierarchy))
    text("p", f"The levels come from the plug-in {name!r}. Choose another kind to edit.", "quiet")


def _listed(value: Any) -> list[Any]:
    """A single value where a list may be is a list of one."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
