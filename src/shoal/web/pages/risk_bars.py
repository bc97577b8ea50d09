"""How easily people are recognised, before and after: two bars with words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.web.node_words import one_in
from shoal.web.pages.components import box, meter, text

if TYPE_CHECKING:
    from shoal.web.pages.frame import StepFrame


def show_risk(frame: StepFrame, plain: Mapping[str, Any]) -> None:
    """The bars of what the task `compare` found."""
    with box("risk-bars"):
        _risk_bar(frame, "Before", plain["before"], "unsafe")
        _risk_bar(frame, "After", plain["after"], "safe")


def _risk_bar(frame: StepFrame, when: str, risk: Mapping[str, Any] | None, look: str) -> None:
    numbers, k = frame.numbers, frame.project.definition.get("k", 5)
    with box("risk-bar"):
        text("h3", when)
        if risk is None:
            text("p", "The original has too many different records to count them all.")
            return
        share = risk["below_k"] / risk["records"]
        alike = numbers.of(risk["below_k"], risk["records"])
        meter(share, f"{when}: {numbers.percent(share)} at risk").classes(look)
        text("p", f"{alike} have fewer than {k} alike.", "strong")
        verb = "is" if risk["alone"] == 1 else "are"
        alone = f"{numbers.things(risk['alone'], 'record')} {verb} alone with these values."
        highest, average = (one_in(numbers, risk[each]) for each in ("highest", "average"))
        said = f"Whoever knows a person finds the record with a chance of up to {highest}"
        nobody = "No record is alone with its values."
        text("p", f"{alone if risk['alone'] else nobody} {said}, on average {average}.", "quiet")
