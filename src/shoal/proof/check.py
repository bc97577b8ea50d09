"""Is a proof right? Checked against the definition and its source, with nothing of the search.

Four questions: is the proof about this definition and this source; is its best node safe, with the
loss it states; do its boxes cover the lattice; and does the reason of each box hold. Together they
show that no node is better than the best.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from shoal.proof.bound import Bounds
from shoal.proof.cover import uncovered
from shoal.values import Best, Finding, Verdict

if TYPE_CHECKING:
    from shoal.proof.format import Claim, Proof, Step, Subject
    from shoal.proof.instance import Instance
    from shoal.values import Node

Tell: TypeAlias = Callable[[int, int], None]
"""Told how many boxes are done, and how many there are to do."""

TIE = 1e-12
"""Losses nearer than this are equal, as in the order of nodes: they are compared to 12 decimals."""

ABOVE = 1e-10
"""A bound must be above the best loss by this much, so that no node of the box can equal it.

The search closes a box only by ten times as much.
"""


@dataclass(frozen=True)
class Sample:
    """Check so many boxes, drawn at random; the same seed draws the same ones."""

    boxes: int
    seed: int


def check(
    instance: Instance, subject: Subject, proof: Proof, sample: Sample | None, tell: Tell
) -> Verdict:
    """What is found of a proof, in the order of the questions, up to one that leaves no sense in
    asking on. Without a sample the reason of every box is checked."""
    about = _about(subject, proof.subject)
    if not about.holds:
        return Verdict((about,), 0, 0, 0)
    best, found = _best(instance, proof.claim)
    if best is None:
        return Verdict((about, found), 0, 0, 0)
    findings = [about, found, _cover(proof, instance.bottom, instance.top)]
    if all(finding.holds for finding in findings):
        findings.append(_reasons(Reasons(instance, best), proof, sample, tell))
    released = instance.rows.records - best.suppressed
    return Verdict(tuple(findings), released, best.classes, best.smallest_class)


def _about(subject: Subject, stated: Mapping[str, object]) -> Finding:
    """Whether what the proof says it is about is what the definition and the source say."""
    plain = {
        key: [asdict(each) for each in subject.attributes] if key == "attributes" else value
        for key, value in vars(subject).items()
    }
    plain |= {"privacy": list(subject.privacy), "person": list(subject.person)}
    differing = [key for key in plain if key not in stated or stated[key] != plain[key]]
    name = "proof: subject"
    if differing:
        return Finding(name, False, f"not this definition and source: {', '.join(differing)}")
    return Finding(name, True, f"this definition and source, {subject.records:,} records")


def _best(instance: Instance, claim: Claim) -> tuple[Best | None, Finding]:
    """The best node measured afresh, None when it is not safe, and whether it is as claimed."""
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
    name, steps = "proof: cover", proof.steps
    astray = next((step for step in steps if not _inside(step.lo, step.hi, bottom, top)), None)
    if astray is not None:
        return Finding(name, False, f"the box at line {astray.line} is not inside the lattice")
    gap = uncovered(steps, top, bottom)
    if gap is not None:
        return Finding(name, False, f"no box has the nodes from {gap[0]} to {gap[1]}")
    nodes = math.prod(high - low + 1 for low, high in zip(bottom, top, strict=True))
    return Finding(name, True, f"{len(steps):,} boxes have all {nodes:,} nodes")


def _inside(lo: Node, hi: Node, bottom: Node, top: Node) -> bool:
    levels = zip(bottom, lo, hi, top, strict=True)
    return all(least <= low <= high <= most for least, low, high, most in levels)


def _reasons(reasons: Reasons, proof: Proof, sample: Sample | None, tell: Tell) -> Finding:
    """Whether the reason of every box holds, or of every box of the sample."""
    name, every = "proof: reasons", len(proof.steps)
    chosen = list(proof.steps)
    saw = f"checked all {every:,} boxes"
    if sample is not None and sample.boxes < every:
        drawn = np.random.default_rng(sample.seed).choice(every, sample.boxes, replace=False)
        chosen = [proof.steps[i] for i in sorted(drawn.tolist())]
        saw = f"checked {len(chosen):,} of {every:,} boxes, drawn with seed {sample.seed}"
    for done, step in enumerate(chosen):
        tell(done, len(chosen))
        wrong = reasons.wrong(step)
        if wrong is not None:
            return Finding(name, False, f"line {step.line}: {wrong}")
    kinds = Counter(step.why for step in chosen)
    said = ", ".join(f"{kinds[why]:,} {why}" for why in sorted(kinds))
    return Finding(name, True, f"{saw}: {said}")


@dataclass(frozen=True, eq=False)
class Reasons:
    """Judges the reasons of boxes, for the best node as the checker measured it."""

    instance: Instance
    best: Best

    def wrong(self, step: Step) -> str | None:
        """Why the reason of a box does not hold, None when it does."""
        where = f"the box from {step.lo} to {step.hi}"
        match step.why:
            case "infeasible":
                return (
                    None if self._infeasible(step.hi) else f"{where} is not infeasible at its top"
                )
            case "bound":
                return None if self._bounded(step) else f"{where} has no bound above the best loss"
            case "single" if step.lo == step.hi:
                return f"{step.lo} is better than the best" if self._better(step.lo) else None
            case "single":
                return f"{where} is not a single node"
        return f"{step.why!r} is no reason"

    def _infeasible(self, hi: Node) -> bool:
        """Whether every node up to `hi` suppresses more than the limit, or everything."""
        gone = int(self.instance.going(self.instance.classes(hi)).sum())
        return gone > self.instance.limit or gone >= self.instance.rows.records

    def _bounded(self, step: Step) -> bool:
        """Whether no node of the box can be as good as the best."""
        return Bounds(self.instance).reaches(step.lo, step.hi, self.best.loss + ABOVE)

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
