"""What the result of a run says by itself: no data is read.

A result has the levels, the loss of each column and what the demands reached. It cannot say which
records were suppressed, nor what another level would change; that needs the definition.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from shoal.analysis.explanation import ColumnCost, Explanation, loss_shares
from shoal.errors import BadData
from shoal.plugins import find
from shoal.report.result import to_dict
from shoal.values import Result

if TYPE_CHECKING:
    from shoal.values import StatedLevels

NEEDED = ("levels", "records", "suppressed", "suppression_limit", "treatments", "privacy")
"""Keys of a result that an explanation needs."""


def result_in(source: object) -> Mapping[str, Any] | None:
    """The plain values of a result, or of the file of one; None for anything else.

    A definition in JSON has no `status`. A report in JSON has the result in it.
    """
    if isinstance(source, Result):
        return to_dict(source)
    if not isinstance(source, str | Path) or Path(source).suffix.lower() != ".json":
        return None
    try:
        found = json.loads(Path(source).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # reading it as a definition says what is wrong
    if isinstance(found, dict) and isinstance(found.get("result"), dict):
        found = found["result"]
    return found if isinstance(found, dict) and "status" in found else None


def explain_result(result: Mapping[str, Any], file: str) -> Explanation:
    """The explanation of a result; an error where it lacks something."""
    lacking = [key for key in NEEDED if key not in result]
    if lacking:
        raise _bad_result(file, f"has no `{lacking[0]}`")
    try:
        return _explanation(result)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _bad_result(file, "has values that a run does not write") from None


def _explanation(result: Mapping[str, Any]) -> Explanation:
    failure = result.get("failure")
    model = str(result.get("loss_model", ""))
    return Explanation(
        source=", ".join(map(str, result.get("sources", {}))) or "the source",
        source_records=int(result["records"]) - int(result.get("removed", 0)),
        k=int(_k(result)),
        levels=None if failure else {str(n): _level(x) for n, x in result["levels"].items()},
        loss=None if failure else float(result["loss"]),
        loss_model=model,
        suppressed=None if failure else int(result["suppressed"]),
        limit=int(result["suppression_limit"]),
        columns=() if failure else tuple(_columns(result["treatments"], model)),
        notes=() if failure else tuple(_notes(result)),
        reasons=tuple(map(str, failure["reasons"])) if failure else (),
        remedies=tuple(map(str, failure["remedies"])) if failure else (),
    )


def _level(stated: int | Mapping[str, int]) -> StatedLevels:
    """The level of a column, or the records at each of its levels: JSON has these as text."""
    if isinstance(stated, Mapping):
        return {int(level): int(records) for level, records in stated.items()}
    return int(stated)


def _k(result: Mapping[str, Any]) -> int:
    """The k that was demanded, from the text of the first demand."""
    demanded = [d["demanded"] for d in result["privacy"] if d["model"] == "k-anonymity"]
    return int(str(demanded[0]).rpartition(" ")[2])


def _columns(treatments: Mapping[str, Any], model: str) -> Iterator[ColumnCost]:
    """What each column lost; a loss of classes has no loss of columns."""
    of_classes = hasattr(find("loss", model), "class_loss")
    losses = [float(each["loss"]) for each in treatments.values()]
    shares = loss_shares(losses, [float(each["priority"]) for each in treatments.values()])
    for (name, each), loss, share in zip(treatments.items(), losses, shares, strict=True):
        at = each.get("records_at")
        yield ColumnCost(
            column=str(name),
            level=int(each["level"]),
            height=int(each["height"]),
            limit=None,
            loss=None if of_classes else loss,
            share=None if of_classes else share,
            records_at=None if at is None else cast("Mapping[int, int]", _level(at)),
        )


def _notes(result: Mapping[str, Any]) -> Iterator[str]:
    """How the search ended, what each demand reached, and how to learn more."""
    local = result.get("recoding") == "local"
    if result["status"] == "optimal":
        what = "local recoding" if local else "safe transformation"
        yield f"No {what} loses less: that is proved."
    else:
        what = "local recoding" if local else "transformation"
        yield f"Another {what} may lose as little as {float(result['bound']):.6f}."
    for each in result["privacy"]:
        of = f" of {each['attribute']}" if each["attribute"] else ""
        reached = "nothing" if each["reached"] is None else f"{each['reached']:.6g}"
        yield f"{each['model']}{of}: {each['demanded']} was demanded, {reached} is reached."
    more = "what the other columns would lose without one"
    if not local:
        more = "which records were suppressed by which column, and what other levels would change"
    yield (
        f"{more[0].upper()}{more[1:]}, only the definition and its data can say: "
        "shoal explain DEFINITION."
    )


def _bad_result(file: str, why: str) -> BadData:
    return BadData(
        f"{file} {why}, so it is no result of a run",
        code="bad-result",
        hint="give the file that `shoal run --json` wrote, or the definition",
    )
