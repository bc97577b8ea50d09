"""Checking a proof in a file against a definition, whose source is read and counted again."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.definition.check import against_columns
from shoal.definition.demands import loss_of, models_of
from shoal.engines.opening import open_source
from shoal.proof.check import Sample, Tell, check
from shoal.proof.format import read_proof, subject_of
from shoal.proof.instance import Instance
from shoal.proof.rows import read_rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from shoal.definition.model import Definition
    from shoal.values import Verdict


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
    definition: Definition, path: Path, *, sample: Sample | None = None, tell: Tell
) -> Checked:
    """Read a proof and the source of the definition, and check the one against the other."""
    proof = read_proof(path)
    source = open_source(definition.source.options(), expect=set(definition.attributes))
    with closing(source):
        columns = tuple(column.name for column in source.columns())
        definition = against_columns(definition, columns, source.name)
        definition, rows = read_rows(definition, source)
        fingerprint = source.fingerprint()
    climbs = [attribute.climb for attribute in rows.attributes]
    subject = subject_of(definition, climbs, rows.records, rows.removed, fingerprint)
    instance = Instance(
        rows,
        models_of(definition),
        loss_of(definition),
        definition.loss.aggregate,
        subject.suppression_limit,
    )
    verdict = check(instance, subject, proof, sample, tell)
    levels = dict(zip(definition.quasi_identifiers, proof.claim.levels, strict=False))
    return Checked(verdict, definition, levels, rows.records + rows.removed, rows.removed)
