"""The answers of a result: sections of sentences and tables, then the sentences themselves.

HTML, text, notebooks and the terminal show the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.values import Choice, Result

WEIGHTED = "the sum of priority times information loss of the level"


@dataclass(frozen=True)
class Section:
    """A title, sentences, a table and a text to copy, each where there is something to say.

    `numbers` are the columns of the table to align to the right; `bars` is a share for each row.
    """

    title: str
    lines: tuple[str, ...] = ()
    heading: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    numbers: tuple[int, ...] = ()
    bars: tuple[float, ...] = ()
    copy: str = ""


def answers(result: Result) -> tuple[Section, ...]:
    """What people ask, in the order in which they ask; the first section is the verdict."""
    if result.failure is not None:
        return tuple(_failure(result))
    return (
        Section("", (safety(result),)),
        *_warnings(result),
        Section("What was lost", lost(result)),
        _treatments(result),
        _demands(result, "What was demanded"),
        Section("Where it is", (where(result),)),
    )


def _failure(result: Result) -> Iterator[Section]:
    assert result.failure is not None  # the caller looked  # noqa: S101
    yield Section("", ("Nothing was released: no transformation was found that meets the demand.",))
    yield Section("Why", result.failure.reasons)
    if result.failure.remedies:
        yield Section(
            "What would be enough",
            ("Each of these by itself:",),
            rows=tuple((remedy,) for remedy in result.failure.remedies),
        )
    yield _demands(result, "What was demanded, and what the most general classes reach")


def _warnings(result: Result) -> Iterator[Section]:
    """The warnings of the run, where there are any."""
    if result.warnings:
        yield Section("Warnings", warnings(result))


def _treatments(result: Result) -> Section:
    treated = result.treatments.items()
    return Section(
        "What was done to each attribute",
        (f"Weighted information loss {result.weighted_information_loss:.6g}: {WEIGHTED}.",),
        ("attribute", "level", "values look like", "information loss", "priority", "loss"),
        tuple(
            (
                name,
                f"{each.level} of {each.height}",
                f"{each.example}{' (proposed hierarchy)' if each.proposed else ''}",
                f"{each.information_loss:.3g}",
                f"{each.priority:.3g}",
                f"{each.loss:.1%}",
            )
            for name, each in treated
        ),
        (1, 3, 4, 5),
        tuple(min(1.0, max(0.0, each.loss)) for _, each in treated),
    )


def _demands(result: Result, name: str) -> Section:
    return Section(
        name,
        (),
        ("model", "attribute", "demanded", "reached"),
        tuple((d.model, d.attribute or "", d.demanded, f"{d.reached:.6g}") for d in result.privacy),
        (3,),
    )


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
    if result.chosen is not None:
        proof = _choice(result.chosen, result.bound)
    elif result.status == "optimal":
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


def _choice(chosen: Choice, bound: float) -> str:
    """How much more a chosen node loses than the best one."""
    if not chosen.proved:
        return (
            f"of the chosen node; the best node found loses {chosen.optimum:.6f}, and none loses "
            f"less than {bound:.6f}"
        )
    if not chosen.more:
        return "of the chosen node: proved the least possible"
    more = f" ({chosen.more / chosen.optimum:.1%})" if chosen.optimum else ""
    return (
        f"of the chosen node: {chosen.more:.6f}{more} more than the proved optimum "
        f"{chosen.optimum:.6f}"
    )


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
