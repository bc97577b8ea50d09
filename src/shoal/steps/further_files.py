"""The files that a run writes beside its release: the proof, the transformation, the assignment.

They are staged, so nobody sees them before the release itself is published.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shoal.definition.outputs import check_written
from shoal.engines.duckdb.staged import stage_text
from shoal.engines.local_files import check_writable
from shoal.errors import BadOutput
from shoal.recoding.local.solution import LocalBest
from shoal.release.assignment_file import assignment_text, no_assignment
from shoal.release.local_classes import LabelCosts, released_classes
from shoal.release.recode import texts_of
from shoal.release.transformation import transformation_text
from shoal.search.objective import CellObjective
from shoal.steps.local_release import price_claim
from shoal.steps.releasing import plan_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shoal.definition.model import Definition
    from shoal.engines.base import Staged
    from shoal.proof.log import ProofLog
    from shoal.release.local_classes import ReleasedClass
    from shoal.report.result import Run, ShownResult
    from shoal.steps.releasing import Found, Prepared
    from shoal.values import Best


def further_paths(
    definition: Definition, file: str, asked_for: Mapping[str, str | Path | None]
) -> dict[str, Path]:
    """Where the files go that were asked for, by what they are; each can be written."""
    if asked_for.get("assignment") is not None:
        refuse_assignment(definition)
    paths = {key: Path(path) for key, path in asked_for.items() if path is not None}
    check_written(definition, file, paths)
    for path in paths.values():
        check_writable(path)
    return paths


def open_proof(definition: Definition, path: Path) -> ProofLog:
    """Where a search writes its proof; only the box search and local recoding can."""
    if definition.recoding == "full-domain" and definition.search.strategy != "box":
        raise BadOutput(
            f"the strategy {definition.search.strategy!r} writes no proof",
            code="no-proof",
            hint="search with `strategy: box`, or leave out the proof",
        )
    from shoal.proof.log import ProofLog

    return ProofLog(path)


def refuse_unproved(prepared: Prepared, proof: ProofLog | None) -> None:
    """Refuse a proof of a local recoding where not every tuple has a price."""
    if proof is not None and prepared.table.raised is not None:
        raise BadOutput(
            "no proof can be written: the table is counted at higher levels, since it has more"
            " distinct tuples than may be read, and prices are of original tuples",
            code="no-proof",
            hint="allow more with `engine: {tuples: ...}`, or leave out the proof",
        )


def stage_proof(
    proof: ProofLog, prepared: Prepared, best: Best, about: Run, *, is_proved: bool
) -> None:
    """Write the proof, if there is one, where nobody sees it yet.

    Boxes prove that a node is the best. Prices prove the bound of a local recoding, also where the
    search ended before the bound met the best.
    """
    from shoal.proof.format import LevelRange, subject_of

    table = prepared.table
    ranges = [LevelRange(a.name, a.height, a.limit, a.priority, a.lowest) for a in table.attributes]
    subject = subject_of(
        prepared.definition,
        ranges,
        table.records,
        table.removed,
        about.fingerprint,
        prepared.population_sha256,
    )
    if isinstance(best, LocalBest):
        claim = price_claim(prepared.problem, best)
        if claim is not None:
            proof.stage_prices(subject, claim)
    elif is_proved:
        proof.stage(subject, best)


def stage_further(
    prepared: Prepared, found: Found, result: ShownResult, paths: Mapping[str, Path], file: str
) -> Iterator[Staged]:
    """The files of these paths beside the proof, one by one; `file` is where the definition is."""
    if "transformation" in paths:
        origin = Path(file) if Path(file).is_file() else None
        yield stage_transformation_of(prepared, found, result, paths["transformation"], origin)
    if "assignment" in paths:
        yield stage_assignment_of(prepared, found, paths["assignment"])


def stage_transformation_of(
    prepared: Prepared, found: Found, result: ShownResult, path: Path, origin: Path | None
) -> Staged:
    """How the release was recoded; `origin` is the file of the definition."""
    text = transformation_text(
        prepared.definition,
        prepared.table,
        prepared.columns,
        result,
        origin,
        _released_classes(prepared, found),
    )
    return stage_text(text, path, "the transformation")


def _released_classes(prepared: Prepared, found: Found) -> tuple[ReleasedClass, ...] | None:
    """The released classes of a local recoding."""
    problem = prepared.problem
    if found.local is None or not isinstance(problem.objective, CellObjective):
        return None
    lost = LabelCosts(problem.objective.costs, problem.objective.join)
    kept = found.classes.kept[found.classes.class_of]
    return released_classes(problem.table, found.local.levels, kept, lost)


def refuse_assignment(definition: Definition) -> None:
    """Refuse an assignment where no class has levels of its own."""
    if definition.recoding != "local":
        raise no_assignment("only a local recoding has an assignment")


def stage_assignment_of(prepared: Prepared, found: Found, path: Path) -> Staged:
    """The class of each tuple of a local recoding."""
    classes = found.classes
    suppressed = texts_of(prepared.table, np.flatnonzero(~classes.kept[classes.class_of]))
    return stage_text(assignment_text(plan_of(prepared, found), suppressed), path, "the assignment")
