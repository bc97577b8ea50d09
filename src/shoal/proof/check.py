"""Is a proof right? Checked against the definition and its source, with nothing of the search.

Four questions: is the proof about this definition and this source; is its best node safe, with the
loss it states; do its boxes cover the lattice (`uncovered`, at the end); and does the reason of
each box hold. Together they show that no node is better than the best.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from shoal.definition.check import against_columns
from shoal.definition.demands import loss_of, models_of
from shoal.engines.opening import check_names, open_source
from shoal.proof.bound import Bounds
from shoal.proof.format import read_proof, subject_of
from shoal.proof.instance import Instance
from shoal.proof.price_check import check_price_claim
from shoal.proof.price_file import PriceProof
from shoal.proof.rows import read_rows
from shoal.values import Best, Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from shoal.definition.model import Definition
    from shoal.engines.base import Source
    from shoal.proof.format import Claim, Proof, ProofBox, Subject
    from shoal.values import Ints, Node


ProgressCallback: TypeAlias = Callable[[int, int], None]
"""Called with the number of boxes that are done, and with that of all boxes."""

TIE = 1e-12
"""Losses that differ by less are equal: the order of nodes compares them to 12 decimals."""

ABOVE = 1e-10
"""A bound must be above the best loss by this tolerance, so that no node of the box can equal it.

The search uses ten times this tolerance when it closes a box.
"""


@dataclass(frozen=True)
class Sample:
    """The number of boxes to check, drawn at random; the same seed draws the same ones."""

    boxes: int
    seed: int


@dataclass(frozen=True)
class Checked:
    """What was found of a proof, the levels it claims to be best, and what the checker counted.

    `definition` has the proposed hierarchies.
    """

    verdict: Verdict
    definition: Definition
    levels: Mapping[str, int]
    records: int
    removed: int


def check_file(
    definition: Definition, path: Path, *, sample: Sample | None = None, progress: ProgressCallback
) -> Checked:
    """Read a proof and the source of the definition, and check the one against the other."""
    proof = read_proof(path)
    source = open_source(definition.source.options(), expect=set(definition.attributes))
    with closing(source), _opened_population(definition) as population:
        columns = tuple(column.name for column in source.columns())
        definition = against_columns(definition, columns, source.name)
        definition, rows = read_rows(definition, source, population)
        fingerprint = source.fingerprint()
        of_population = None if population is None else population.fingerprint()
    ranges = [attribute.levels for attribute in rows.attributes]
    subject = subject_of(definition, ranges, rows.records, rows.removed, fingerprint, of_population)
    instance = Instance(
        rows,
        models_of(definition),
        loss_of(definition),
        definition.loss.aggregate,
        subject.suppression_limit,
    )
    is_local = definition.recoding == "local"
    if is_local == isinstance(proof, PriceProof):
        verdict = check(instance, subject, proof, sample, progress)
    else:
        saw = f"it is not about {definition.recoding} recoding"
        verdict = Verdict((Finding("proof: recoding", False, saw),), 0, 0, 0)
    levels = {}
    if not isinstance(proof, PriceProof):
        levels = dict(zip(definition.quasi_identifiers, proof.claim.levels, strict=False))
    return Checked(verdict, definition, levels, rows.records + rows.removed, rows.removed)


@contextmanager
def _opened_population(definition: Definition) -> Iterator[Source | None]:
    """The table of the population, where something is demanded against it."""
    if definition.population is None:
        yield None
        return
    names = set(definition.quasi_identifiers)
    with closing(open_source(definition.population.source.options(), expect=names)) as source:
        check_names(source, definition.quasi_identifiers)
        yield source


def check(
    instance: Instance,
    subject: Subject,
    proof: Proof | PriceProof,
    sample: Sample | None,
    progress: ProgressCallback,
) -> Verdict:
    """The findings about a proof, in the order of the questions.

    A wrong subject or best node ends the check. Without a sample every box is checked. A proof by
    prices has other questions: it claims a bound for every local recoding, and no best node.
    """
    about = _subject(subject, proof.subject)
    if not about.holds:
        return Verdict((about,), 0, 0, 0)
    if isinstance(proof, PriceProof):
        findings = (about, *check_price_claim(instance, proof.claim))
        return Verdict(findings, instance.rows.records, 0, 0)
    best, found = _best(instance, proof.claim)
    if best is None:
        return Verdict((about, found), 0, 0, 0)
    all_findings = [about, found, _cover(proof, instance.bottom, instance.top)]
    if all(finding.holds for finding in all_findings):
        all_findings.append(_reasons(Reasons(instance, best), proof, sample, progress))
    released = instance.rows.records - best.suppressed
    return Verdict(tuple(all_findings), released, best.classes, best.smallest_class)


def _subject(subject: Subject, stated: Mapping[str, object]) -> Finding:
    """Whether what the proof says it is about is what the definition and the source say."""
    plain = {
        key: [asdict(each) for each in subject.attributes] if key == "attributes" else value
        for key, value in vars(subject).items()
    }
    plain |= {"privacy": list(subject.privacy), "person": list(subject.person)}
    if subject.population_sha256 is None and "population_sha256" not in stated:
        del plain["population_sha256"]
    differing = [key for key in plain if key not in stated or stated[key] != plain[key]]
    name = "proof: subject"
    if differing:
        return Finding(name, False, f"not this definition and source: {', '.join(differing)}")
    return Finding(name, True, f"this definition and source, {subject.records:,} records")


def _best(instance: Instance, claim: Claim) -> tuple[Best | None, Finding]:
    """The best node as measured here, None when it is not safe, and whether it is as claimed."""
    name = "proof: best node"
    if not _inside(claim.levels, claim.levels, instance.bottom, instance.top):
        return None, Finding(name, False, f"{claim.levels} is no node of the lattice")
    best = instance.measure(claim.levels)
    if best is None:
        return None, Finding(name, False, f"{claim.levels} is not safe")
    holds = abs(best.loss - claim.loss) <= ABOVE and best.suppressed == claim.suppressed
    saw = f"safe, loss {best.loss:.9f}, {best.suppressed:,} records suppressed"
    if not holds:
        saw += f"; stated are {claim.loss:.9f} and {claim.suppressed:,}"
    return best, Finding(name, holds, saw)


def _cover(proof: Proof, bottom: Node, top: Node) -> Finding:
    """Whether every node is in some box."""
    name, boxes = "proof: cover", proof.boxes
    outside = next((box for box in boxes if not _inside(box.lo, box.hi, bottom, top)), None)
    if outside is not None:
        return Finding(name, False, f"the box at line {outside.line} is not inside the lattice")
    gap = uncovered(boxes, top, bottom)
    if gap is not None:
        return Finding(name, False, f"no box has the nodes from {gap[0]} to {gap[1]}")
    nodes = math.prod(high - low + 1 for low, high in zip(bottom, top, strict=True))
    return Finding(name, True, f"{len(boxes):,} boxes have all {nodes:,} nodes")


def _inside(lo: Node, hi: Node, bottom: Node, top: Node) -> bool:
    levels = zip(bottom, lo, hi, top, strict=True)
    return all(least <= low <= high <= most for least, low, high, most in levels)


def _reasons(
    reasons: Reasons, proof: Proof, sample: Sample | None, progress: ProgressCallback
) -> Finding:
    """Whether the reason of every box holds, or of every box of the sample."""
    name, every = "proof: reasons", len(proof.boxes)
    chosen = list(proof.boxes)
    saw = f"checked all {every:,} boxes"
    if sample is not None and sample.boxes < every:
        drawn = np.random.default_rng(sample.seed).choice(every, sample.boxes, replace=False)
        chosen = [proof.boxes[i] for i in sorted(drawn.tolist())]
        saw = f"checked {len(chosen):,} of {every:,} boxes, drawn with seed {sample.seed}"
    for done, box in enumerate(chosen):
        progress(done, len(chosen))
        wrong = reasons.wrong(box)
        if wrong is not None:
            return Finding(name, False, f"line {box.line}: {wrong}")
    kinds = Counter(box.why for box in chosen)
    counts = ", ".join(f"{kinds[why]:,} {why}" for why in sorted(kinds))
    return Finding(name, True, f"{saw}: {counts}")


@dataclass(frozen=True, eq=False)
class Reasons:
    """Judges the reasons of boxes, for the best node as the checker measured it."""

    instance: Instance
    best: Best

    def wrong(self, box: ProofBox) -> str | None:
        """Why the reason of a box does not hold, None when it does."""
        where = f"the box from {box.lo} to {box.hi}"
        match box.why:
            case "infeasible":
                return None if self._infeasible(box.hi) else f"{where} is not infeasible at its top"
            case "bound":
                return None if self._bounded(box) else f"{where} has no bound above the best loss"
            case "single" if box.lo == box.hi:
                return f"{box.lo} is better than the best" if self._better(box.lo) else None
            case "single":
                return f"{where} is not a single node"
        return f"{box.why!r} is no reason"

    def _infeasible(self, hi: Node) -> bool:
        """Whether every node up to `hi` suppresses more than the limit, or everything."""
        removed = self.instance.certain_removals(self.instance.classes(hi)).records
        return removed > self.instance.limit or removed >= self.instance.rows.records

    def _bounded(self, box: ProofBox) -> bool:
        """Whether no node of the box can be as good as the best."""
        return Bounds(self.instance).reaches(box.lo, box.hi, self.best.loss + ABOVE)

    def _better(self, node: Node) -> bool:
        """Whether a node is safe and comes before the best: less loss, fewer suppressed records,
        smaller levels."""
        found = self.instance.measure(node)
        if found is None:
            return False
        if found.loss < self.best.loss - TIE:
            return True
        tie = found.loss <= self.best.loss + TIE
        return tie and (found.suppressed, node) < (self.best.suppressed, self.best.node)


def uncovered(
    boxes: Sequence[ProofBox], top: Node, bottom: Node | None = None
) -> tuple[Node, Node] | None:
    """A region, from its lowest to its highest node, that no box covers, None when there is none.

    The lattice has the nodes from `bottom`, by default level 0 of all attributes, to `top`.

    A region inside one box is covered, one that meets no box is not, and any other is cut in two.
    The boxes of a search come from cuts in two, so there is always a cut that crosses no box: then
    every box goes to one side and the work is boxes times the sum of the levels, whatever the
    number of nodes. Other boxes are right too; those that a cut crosses go to both sides.
    """
    lo = np.array([box.lo for box in boxes], dtype=np.int64).reshape(len(boxes), len(top))
    hi = np.array([box.hi for box in boxes], dtype=np.int64).reshape(len(boxes), len(top))
    lowest = np.array((0,) * len(top) if bottom is None else bottom, np.int64)
    regions = [(lowest, np.array(top, np.int64), lo, hi)]
    while regions:
        low, high, lo, hi = regions.pop()
        if len(lo) == 0:
            return tuple(low.tolist()), tuple(high.tolist())
        if ((lo <= low) & (hi >= high)).all(axis=1).any():
            continue
        j, level = _cut(low, high, lo, hi)
        below, above = high.copy(), low.copy()
        below[j], above[j] = level, level + 1
        under, over = lo[:, j] <= level, hi[:, j] > level
        regions.append((low, below, lo[under], hi[under]))
        regions.append((above, high, lo[over], hi[over]))
    return None


def _cut(low: Ints, high: Ints, lo: Ints, hi: Ints) -> tuple[int, int]:
    """The attribute and the level after which to cut a region of several nodes: where the cut
    crosses the fewest boxes."""
    best, fewest = (0, 0), len(lo) + 1
    for level in range(int(low.min()), int(high.max())):
        crossed = ((lo <= level) & (hi > level)).sum(axis=0)
        crossed[(level < low) | (level >= high)] = len(lo) + 1
        j = int(crossed.argmin())
        if crossed[j] < fewest:
            best, fewest = (j, level), int(crossed[j])
        if fewest == 0:
            break
    return best
