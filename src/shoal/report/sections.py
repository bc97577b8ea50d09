"""What a run says: sections of sentences and tables, then the sentences.

HTML, text, notebooks and the terminal show the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.report.drawing import Drawing
    from shoal.values import Choice, Result, Treatment


WEIGHTED = "the sum of priority times information loss of the level"

LOSSES = {
    "iyengar": "It is 0 if every value is as it was, and 1 if nothing is left of any value.",
    "precision": "It is 0 if every value is as it was, and 1 if all are at their last levels.",
    "entropy": "It is 0 if every value is as it was, and 1 if no bit of them is left.",
    "weighted": f"It is {WEIGHTED}; records left out are not counted in it.",
    "discernibility": "It is near 0 for many small classes, and 1 for a single class of all.",
    "class-size": "It is the number of records for each released class; at best about k.",
}
"""What the number of each loss means."""


@dataclass(frozen=True)
class Section:
    """A title, sentences, cards, pictures, a table and a text to copy, where there are any.

    `numbers` are the columns of the table to align to the right; `bars` is a share for each row.
    `cards` are questions with short answers. A `folded` table only repeats the pictures, so a page
    shows it on demand. `kind` is how a page marks the sentences.
    """

    title: str
    lines: tuple[str, ...] = ()
    heading: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    numbers: tuple[int, ...] = ()
    bars: tuple[float, ...] = ()
    copy: str = ""
    cards: tuple[tuple[str, str], ...] = ()
    pictures: tuple[Drawing, ...] = ()
    folded: bool = False
    kind: str = ""


def answers(result: Result) -> tuple[Section, ...]:
    """What people ask, in the order in which they ask; the first section is the verdict."""
    if result.failure is not None:
        return tuple(_failure(result))
    return (
        Section("", (safety(result),)),
        in_short(result),
        *warning_section(result),
        Section("What was lost", lost(result)),
        treatments(result),
        demanded(result, "What was demanded"),
        Section("Where it is", (where(result),)),
    )


def _failure(result: Result) -> Iterator[Section]:
    assert result.failure is not None  # the caller looked  # noqa: S101
    yield Section("", ("Nothing was released: no transformation was found that meets the demand.",))
    yield Section("Why", tuple(_sentence(each) for each in result.failure.reasons))
    if result.failure.remedies:
        yield Section(
            "What would be enough",
            ("Each of these by itself:",),
            rows=tuple((remedy,) for remedy in result.failure.remedies),
        )
    yield demanded(result, "What was demanded, and what the most general classes reach")


def _sentence(reason: str) -> str:
    """A reason with a capital letter and a full stop; names of models stay as they are."""
    first = reason[:1] if reason[1:2] == "-" else reason[:1].upper()
    return f"{first}{reason[1:]}."


def in_short(result: Result) -> Section:
    """The four questions of somebody who has to decide, each with its answer in plain words."""
    return Section(
        "In short",
        cards=(
            ("What was asked?", _asked(result)),
            ("Is it safe?", _safe(result)),
            ("What was lost?", _lost(result)),
            ("What should you look at?", " ".join(_look_at(result))),
        ),
    )


def _asked(result: Result) -> str:
    names = list(result.treatments)
    known = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    judged = count(result.records - result.removed, "record")
    return (
        f"That nobody can be singled out by {known}: {_in_words(result)}. Up "
        f"to {result.suppression_limit:,} of {judged} may be left out for that."
    )


def _in_words(result: Result) -> str:
    """The demands, the well-known ones in words."""
    unit = "persons" if result.persons is not None else "records"
    words = {
        "k-anonymity": f"every class has at least {{}} {unit}",
        "distinct-diversity": "at least {} different values",
    }
    said = []
    for each in result.privacy:
        number = each.demanded.rsplit(" ", 1)[-1]
        demand = words[each.model].format(number) if each.model in words else each.demanded
        said.append(f"{demand} of {each.attribute}" if each.attribute else demand)
    return "; ".join(said)


def _safe(result: Result) -> str:
    if not result.verified or result.after is None:
        return "That was not verified: do not pass this on."
    among = "persons" if result.smallest_class_persons is not None else "records"
    least = result.after.smallest_class
    before = "" if result.before is None else f" In the source it was {result.before.highest:.0%}."
    what = "written release" if result.output is not None else "returned frame itself"
    return (
        f"Yes. The {what} was counted afresh: every record shares its quasi-identifiers "
        f"with at least {least - 1:,} other {among}. Who looks for a person in it picks the right "
        f"record with a chance of at most 1 in {least:,} ({result.after.highest:.1%}).{before}"
    )


def _lost(result: Result) -> str:
    judged = result.records - result.removed
    if result.chosen is not None:
        proof = f"a person chose the levels; the best found lose {result.chosen.optimum:.4f}"
    elif result.status == "optimal":
        proof = "no other recoding loses less"
    else:
        proof = "not proved the least"
    return (
        f"The loss is {result.loss:.4f} ({result.loss_model}; {proof}). {meaning(result)} "
        f"{result.suppressed:,} of {count(judged, 'record')} were left out "
        f"({share(result.suppressed, judged)})."
    )


def meaning(result: Result) -> str:
    """What the number of the loss means."""
    return LOSSES.get(result.loss_model, "The smaller it is, the more of the data is left.")


def _look_at(result: Result) -> Iterator[str]:
    """What somebody should know before the release is passed on."""
    if result.warnings:
        yield f"{count(len(result.warnings), 'warning')}, listed below."
    empty = [name for name, each in result.treatments.items() if each.level and _says_nothing(each)]
    if empty:
        says = "says" if len(empty) == 1 else "say"
        yield f"{', '.join(empty)} {says} nothing any more: every value has the same label."
    elif result.treatments:
        losses = {name: each.loss for name, each in result.treatments.items()}
        most = max(losses, key=lambda name: losses[name])
        if losses[most] > min(losses.values()) or len(losses) == 1:
            yield f"Of all attributes {most} lost most ({losses[most]:.1%})."
        else:
            yield f"All attributes lost the same ({losses[most]:.1%})."
    if result.status != "optimal" and result.chosen is None:
        more = "more time or `effort: high`" if result.recoding == "local" else "more time"
        yield f"The search ended without a proof: {more} may find a release that loses less."
    if not result.warnings:
        yield "There are no warnings."


def _says_nothing(treatment: Treatment) -> bool:
    if treatment.records_at is not None and len(treatment.records_at) > 1:
        return False
    return bool(treatment.levels) and treatment.levels[treatment.level].labels == 1


def warning_section(result: Result) -> Iterator[Section]:
    """The warnings of the run, where there are any."""
    if result.warnings:
        yield Section("Warnings", warnings(result), kind="warning")


def treatments(result: Result) -> Section:
    """What was done to each quasi-identifier, and what each number means."""
    treated = result.treatments.items()
    return Section(
        "What was done to each attribute",
        (*explained(result), _weighted(result)),
        ("attribute", "level", "values look like", "information loss", "priority", "loss"),
        tuple(
            (
                name,
                each.shown_level,
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


def explained(result: Result) -> Iterator[str]:
    """What level and loss of an attribute mean, and why an unchanged one may have lost some."""
    yield "Level 0 is the value as it was, the last level the most general one."
    if result.recoding == "local":
        yield "Every class has its own levels, so a column holds labels of several levels."
    out = max((each.left_out for each in result.treatments.values()), default=0.0)
    if result.loss_model in ("weighted", "discernibility", "class-size"):
        yield "Loss is how far up its hierarchy the attribute is: 0% as it was, 100% at the top."
        return
    judged = count(result.records - result.removed, "record")
    yield (
        f"Loss is what a value lost on average over {judged}: 0% as it was, 100% nothing left. "
        "Missing values lose nothing."
        + (
            f" A record that is left out loses 100% in every attribute, so {out:.1%} of each loss "
            "is due to the records left out, also where the rest is unchanged."
            if out
            else ""
        )
    )


def _weighted(result: Result) -> str:
    return (
        f"Weighted information loss {result.weighted_information_loss:.6g}: {WEIGHTED}. It is 0 at "
        "level 0, and compares with the definition's own numbers where it has some."
    )


def demanded(result: Result, name: str) -> Section:
    """Each demand, and the worst value that a class reaches."""
    return Section(
        name,
        ("Reached is the value of the class that is worst by that demand.",),
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
        f"Safe: verified from {verified_from(result)}. {demands(result)}; the smallest of "
        f"{count(result.classes, 'class', 'classes')} has {count(result.smallest_class, 'record')}"
        f"{persons}."
    )


def verified_from(result: Result) -> str:
    """What the verifier counted: what was written, or in memory the very frame that is returned."""
    if result.output is not None:
        return "the written release"
    return "the returned frame itself, counted afresh"


def counted(result: Result) -> str:
    """What the verifier counted, in numbers."""
    records = count(result.records - result.removed - result.suppressed, "record")
    classes = count(result.classes, "class", "classes")
    return f"{records} in {classes}, the smallest of {result.smallest_class:,}; {demands(result)}"


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
    elif result.status == "applied":
        proof = "by the levels of the transformation"
    elif result.status == "optimal" and result.recoding == "local":
        proof = "proved the least possible of any local recoding"
    elif result.status == "optimal":
        proof = f"proved the least possible among {count(result.lattice, 'transformation')}"
    else:
        other = "local recoding" if result.recoding == "local" else "transformation"
        proof = (
            "not proved the least possible: the search ended without a proof, and another "
            f"{other} may lose as little as {result.bound:.6f} (gap {result.gap:.1%})"
        )
    lines = [f"Loss {result.loss:.6f} ({result.loss_model}), {proof}. {meaning(result)}"]
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
        why = "since none below is safe"
        if result.recoding == "local":
            why = "so that no class has a lower level; the bound holds for lower levels too"
        lines.append(f"Too many tuples to read: counted {levels} up, {why}.")
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
