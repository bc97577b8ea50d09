"""The levels, losses and quality measures of a written release: of a node, or of mixed levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal import plugins
from shoal.analysis.mixed_quality import TOLERANCE, mixed_loss, mixed_qualities
from shoal.analysis.mixed_release import MixedRelease
from shoal.analysis.quality import qualities
from shoal.analysis.squared_errors import squared_errors
from shoal.definition.demands import loss_of
from shoal.search.objective import ClassObjective, objective_of

if TYPE_CHECKING:
    from shoal.analysis.released import Measured
    from shoal.loss.base import Loss
    from shoal.search.objective import Objective


@dataclass(frozen=True)
class LossOf:
    """A loss of the release in all, and of each attribute where the loss has one for each.

    After local recoding it can depend on which records were suppressed. Then these are the least
    that they can be, and `at_most` is the greatest that the loss can be.
    """

    name: str
    loss: float
    attributes: Mapping[str, float]
    at_most: float | None = None

    def shown(self, digits: str) -> str:
        """The loss as text, or its range."""
        if self.at_most is None:
            return f"{self.loss:{digits}}"
        return f"{self.loss:{digits}} to {self.at_most:{digits}}"


def measures_of(measured: Measured | MixedRelease) -> dict[str, Any]:
    """The levels, losses and qualities of a release, and what is not measured."""
    if isinstance(measured, MixedRelease):
        return _of_labels(measured)
    return _of_node(measured)


def _of_node(measured: Measured) -> dict[str, Any]:
    """The levels, losses and qualities of a node."""
    table, node, classes = measured.table, measured.node, measured.classes
    names = [attribute.name for attribute in table.attributes]
    losses = []
    for name, objective in _objectives(measured):
        found = objective.attribute_losses(node, classes)
        by_class = isinstance(objective, ClassObjective)
        each = {} if by_class else dict(zip(names, found, strict=True))
        losses.append(LossOf(name, objective.measure(node, classes), each))
    return {
        "levels": measured.levels,
        "losses": tuple(losses),
        "qualities": (*qualities(table, node, classes), *squared_errors(table, node, classes)),
    }


def _of_labels(found: MixedRelease) -> dict[str, Any]:
    """The levels, losses and qualities of a local recoding, as far as its labels say them."""
    names = [attribute.name for attribute in found.table.attributes]
    losses, unknown = [], []
    for name, objective in _objectives(found):
        loss = mixed_loss(found, objective)
        if loss is None:
            unknown.append(f"{name} loss")
        else:
            each = dict(zip(names, loss.attributes, strict=True)) if loss.attributes else {}
            sure = loss.greatest - loss.least < TOLERANCE
            losses.append(LossOf(name, loss.least, each, None if sure else loss.greatest))
    measures = mixed_qualities(found)
    if found.suppressed:
        unknown.append("non uniform entropy")
    return {
        "levels": found.records_at(),
        "losses": tuple(losses),
        "qualities": tuple(measures),
        "not_measured": (*unknown, "squared errors"),
    }


def _objectives(measured: Measured | MixedRelease) -> Iterator[tuple[str, Objective]]:
    """Every loss on the table: the definition's own first, others with their usual parameters."""
    definition, table = measured.prepared.definition, measured.table
    losses: dict[str, Loss] = {definition.loss.name: loss_of(definition)}
    for name in plugins.names("loss"):
        if name not in losses and (made := _usual(name)) is not None:
            losses[name] = made
    for name, loss in losses.items():
        aggregate = definition.loss.aggregate if name == definition.loss.name else "mean"
        yield name, objective_of(table, loss, aggregate)


def _usual(name: str) -> Loss | None:
    """A loss without parameters; None for one of a plug-in that needs some."""
    try:
        made: Loss = plugins.make("loss", name, {})
    except ValueError:
        return None
    return made
