"""A result in sentences, the same in the terminal, in notebooks and in reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.values import Result


def safety(result: Result) -> str:
    """Is it safe: the answer first, then what it rests on."""
    if not result.verified:
        return "Not verified: do not pass this on."
    persons = ""
    if result.smallest_class_persons is not None:
        persons = f", and each has at least {count(result.smallest_class_persons, 'person')}"
    return (
        f"Safe: verified from the written release. {demands(result)}; the smallest of "
        f"{count(result.classes, 'class', 'classes')} has {count(result.smallest_class, 'record')}"
        f"{persons}."
    )


def demands(result: Result) -> str:
    """What was demanded: of the table first, then of each sensitive attribute."""
    said: dict[str | None, list[str]] = {}
    for demand in result.privacy:
        said.setdefault(demand.attribute, []).append(demand.demanded)
    return "; ".join(
        f"{attribute}: {', '.join(each)}" if attribute else ", ".join(each)
        for attribute, each in said.items()
    )


def lost(result: Result) -> tuple[str, ...]:
    """What was lost: the loss with its proof, then the records left out."""
    if result.status == "optimal":
        proof = f"proved the least possible among {count(result.lattice, 'transformation')}"
    else:
        proof = (
            "not proved the least possible: the search ended without a proof, and another "
            f"transformation may lose as little as {result.bound:.6f} (gap {result.gap:.1%})"
        )
    lines = [f"Loss {result.loss:.6f} ({result.loss_model}), {proof}."]
    judged = result.records - result.removed
    lines.append(
        f"{result.suppressed:,} of {count(judged, 'record')} suppressed "
        f"({share(result.suppressed, judged)}; up to {result.suppression_limit:,} were allowed)."
    )
    if result.removed:
        lines.append(
            f"{count(result.removed, 'record')} with a missing quasi-identifier removed before."
        )
    if result.raised:
        levels = ", ".join(f"{name} from level {level}" for name, level in result.raised.items())
        lines.append(f"Too many tuples to read: counted {levels} up, since none below is safe.")
    return tuple(lines)


def warnings(result: Result) -> tuple[str, ...]:
    """What was noticed besides, each with its code."""
    return tuple(f"{each.text} [{each.code}]" for each in result.warnings)


def where(result: Result) -> str:
    """Where the release is, and how long it took."""
    seconds = f"{result.seconds['total']:.1f} s"
    if result.output is None:
        return f"In memory, after {seconds}."
    return f"{result.output} (written and verified in {seconds})"


def count(number: int, singular: str, plural: str = "") -> str:
    """`1 record`, `2,000 records`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def share(part: int, whole: int) -> str:
    """A part as a percentage."""
    return f"{part / whole:.2%}" if whole else "0%"
