"""From a definition to its privacy models and its loss."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from shoal import plugins
from shoal.privacy.k_anonymity import KAnonymity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.definition.model import Attribute, Definition
    from shoal.loss.base import Loss
    from shoal.privacy.base import PrivacyModel


@dataclass(frozen=True)
class ModelSpec:
    """A privacy model that a definition demands: its key, the name of the model, its parameters."""

    key: str
    model: str
    parameters: Mapping[str, Any]

    def make(self) -> PrivacyModel:
        """The model; ValueError when it does not take these parameters, or not at this key."""
        part = plugins.find("privacy", self.model)
        named = self.parameters.get("attribute")
        if named is not None and not self.key.startswith(f"attributes.{named}."):
            raise ValueError("its attribute is the one it stands at, and cannot be a parameter")
        if ("attribute" in inspect.signature(part).parameters) != (named is not None):
            where = "the top of the definition" if named else "a sensitive attribute"
            raise ValueError(f"{self.model} belongs under `privacy` of {where}")
        return cast("PrivacyModel", plugins.make("privacy", self.model, self.parameters))


def demands_of(definition: Definition) -> Iterator[ModelSpec]:
    """Every demand beyond k: of the whole table, then of each sensitive attribute in order."""
    for model, parameters in definition.privacy.items():
        yield ModelSpec(f"privacy.{model}", model, parameters)
    for name in definition.sensitive:
        yield from demands_on(name, definition.attributes[name])


def demands_on(name: str, attribute: Attribute) -> Iterator[ModelSpec]:
    """The demands on one attribute."""
    key = f"attributes.{name}"

    def demand(at: str, model: str, **parameters: object) -> ModelSpec:
        return ModelSpec(f"{key}.{at}", model, {"attribute": name, **parameters})

    if (diversity := attribute.diversity) is not None:
        if diversity.distinct is not None:
            yield demand("diversity", "distinct-diversity", l=diversity.distinct)
        if diversity.entropy is not None:
            yield demand("diversity", "entropy-diversity", l=diversity.entropy)
        if (recursive := diversity.recursive) is not None:
            yield demand("diversity", "recursive-diversity", c=recursive.c, l=recursive.l)
    if (closeness := attribute.closeness) is not None:
        yield demand("closeness", "t-closeness", t=closeness.t, distance=closeness.distance)
    if attribute.alpha is not None:
        yield demand("alpha", "alpha-anonymity", alpha=attribute.alpha)
    if (likeness := attribute.likeness) is not None:
        yield demand("likeness", "beta-likeness", beta=likeness.beta, enhanced=likeness.enhanced)
    if attribute.disclosure is not None:
        yield demand("disclosure", "delta-disclosure", delta=attribute.disclosure)
    for model, parameters in attribute.privacy.items():
        yield ModelSpec(f"{key}.privacy.{model}", model, {"attribute": name, **parameters})


def models_of(definition: Definition) -> tuple[PrivacyModel, ...]:
    """k-anonymity first, then the other demands in the order of the definition."""
    return (KAnonymity(definition.k), *(demand.make() for demand in demands_of(definition)))


def loss_of(definition: Definition) -> Loss:
    """The loss to minimise; ValueError when it does not take the parameters."""
    choice = definition.loss
    return cast("Loss", plugins.make("loss", choice.name, choice.parameters))
