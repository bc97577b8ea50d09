"""What can be demanded of classes and of the loss: the keys of a definition, and what they mean.

First the keys of a sensitive attribute, then those of the whole release: its risk, and demands
against a population. The second half makes the privacy models and the loss of a definition.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, cast

from pydantic import BeforeValidator, Field, model_validator

from shoal import plugins
from shoal.definition.scalars import LONGEST_NUMBER, DefinitionPart, Portion, Wrong, shown
from shoal.definition.sources import SourceChoice  # noqa: TC001 the model needs it
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.population import DeltaPresence, KMap
from shoal.privacy.risk import AverageRisk, RecordsAbove

if TYPE_CHECKING:
    from shoal.definition.model import Attribute, Definition
    from shoal.loss.base import Loss
    from shoal.privacy.base import PrivacyModel


Parameters: TypeAlias = Mapping[str, Any]


class Recursive(DefinitionPart):
    """(c,l)-diversity: the most frequent value below c times the sum from the l-th on."""

    c: float = Field(gt=0)
    l: int = Field(ge=2)


class Diversity(DefinitionPart):
    """How diverse the sensitive values of each class must be; one kind or several."""

    distinct: int | None = Field(default=None, ge=2)
    entropy: float | None = Field(default=None, gt=1)
    recursive: Recursive | None = None


class Closeness(DefinitionPart):
    """How far the sensitive values of a class may be from those of the table."""

    t: float = Field(ge=0, le=1)
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"

    @model_validator(mode="before")
    @classmethod
    def _bare_t(cls, data: Any) -> Any:
        return data if isinstance(data, Mapping) else {"t": data}


class Likeness(DefinitionPart):
    """How much more frequent a sensitive value may be in a class than in the table."""

    beta: float = Field(gt=0)
    enhanced: bool = False

    @model_validator(mode="before")
    @classmethod
    def _bare_beta(cls, data: Any) -> Any:
        return data if isinstance(data, Mapping) else {"beta": data}


class AboveThreshold(DefinitionPart):
    """How many records may have a risk above a threshold, as a share of the released ones."""

    threshold: float = Field(gt=0, lt=1)
    share: Portion = Field(ge=0, lt=1)


class Risk(DefinitionPart):
    """How high the risk of the released records may be; the risk of one is 1 / its class's size."""

    average: float | None = Field(default=None, gt=0, le=1)
    records_above: AboveThreshold | None = Field(default=None, alias="records above")

    @model_validator(mode="after")
    def _demands_something(self) -> Risk:
        if self.average is None and self.records_above is None:
            raise Wrong(
                "demands nothing",
                "write `average: 0.1` or `records above: {threshold: 0.2, share: 1%}`",
            )
        return self


def _two_shares(value: Any) -> Any:
    """The least and the largest share."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise Wrong(
            f"{shown(value)} is no pair of shares", "write the least and the largest: `[0, 0.5]`"
        )
    return value


class Population(DefinitionPart):
    """The table of the people that the records are a part of, and what is demanded against it.

    `k` is demanded of every class there. `presence` has the least and the largest share of the
    population that the records of a class may be.
    """

    source: SourceChoice
    k: int | None = Field(default=None, ge=2)
    presence: Annotated[tuple[Portion, Portion], BeforeValidator(_two_shares)] | None = None

    @model_validator(mode="after")
    def _demands_something(self) -> Population:
        if self.presence is not None:
            least, most = self.presence
            if not 0 <= least <= most <= 1 or most == 0:
                raise Wrong(
                    f"[{least:g}, {most:g}] are no shares that rise from 0 to 1",
                    "write the least and the largest: `presence: [0, 0.5]`",
                )
        if self.k is None and self.presence in (None, (0, 1)):
            raise Wrong("demands nothing", "write `k: 3`, `presence: [0, 0.5]`, or both")
        return self


def parameters_of(given: Mapping[str, Any]) -> Parameters:
    """Parameters of a plug-in: text that reads as a number or as true or false becomes that."""
    return {key: _value(value) for key, value in given.items()}


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return parameters_of(value)
    if isinstance(value, list | tuple):
        if None in value:
            raise Wrong("a list of parameters has an empty entry", "leave the entry out")
        return [_value(each) for each in value]
    if not isinstance(value, str) or len(value) > LONGEST_NUMBER:
        return value
    if re.fullmatch(r"[+-]?[0-9]+", value):
        return int(value)
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", value, re.IGNORECASE):
        return float(value)
    return {"true": True, "false": False}.get(value.lower(), value)


_MODELS_OF_THE_TABLE: Mapping[str, Callable[..., PrivacyModel]] = MappingProxyType(
    {
        "risk.average": AverageRisk,
        "risk.records above": RecordsAbove,
        "population.k": KMap,
        "population.presence": DeltaPresence,
    }
)
"""The models that have a key of their own at the top of a definition, and are no plug-ins."""


@dataclass(frozen=True)
class ModelSpec:
    """A privacy model that a definition demands: its key, the name of the model, its parameters."""

    key: str
    model: str
    parameters: Mapping[str, Any]

    def make(self) -> PrivacyModel:
        """The model; ValueError when it does not take these parameters, or not at this key."""
        if self.key in _MODELS_OF_THE_TABLE:
            return _MODELS_OF_THE_TABLE[self.key](**self.parameters)
        part = plugins.find("privacy", self.model)
        named = self.parameters.get("attribute")
        if named is not None and not self.key.startswith(f"attributes.{named}."):
            raise ValueError(
                "its attribute is the one it is demanded of, and cannot be a parameter"
            )
        if ("attribute" in inspect.signature(part).parameters) != (named is not None):
            where = "the top of the definition" if named else "a sensitive attribute"
            raise ValueError(f"{self.model} belongs under `privacy` of {where}")
        return cast("PrivacyModel", plugins.make("privacy", self.model, self.parameters))


def demands_of(definition: Definition) -> Iterator[ModelSpec]:
    """Every demand beyond k: of the whole table, then of each sensitive attribute in order."""
    if (risk := definition.risk) is not None:
        if risk.average is not None:
            yield ModelSpec("risk.average", "average-risk", {"average": risk.average})
        if (above := risk.records_above) is not None:
            shares = {"threshold": above.threshold, "share": above.share}
            yield ModelSpec("risk.records above", "records-above", shares)
    if (population := definition.population) is not None:
        if population.k is not None:
            yield ModelSpec("population.k", "k-map", {"k": population.k})
        if population.presence is not None:
            least, most = population.presence
            yield ModelSpec("population.presence", "delta-presence", {"least": least, "most": most})
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
