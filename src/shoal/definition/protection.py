"""What can be demanded of a sensitive attribute."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from pydantic import Field, model_validator

from shoal.definition.scalars import LONGEST_NUMBER, DefinitionPart, Wrong

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


def parameters_of(given: Mapping[str, Any]) -> Parameters:
    """Parameters of a plug-in: text that reads as a number or as true or false becomes that."""
    return {key: _value(value) for key, value in given.items()}


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return parameters_of(value)
    if isinstance(value, list | tuple):
        if None in value:
            raise Wrong("a list of parameters has an empty place", "leave the place out")
        return [_value(each) for each in value]
    if not isinstance(value, str) or len(value) > LONGEST_NUMBER:
        return value
    if re.fullmatch(r"[+-]?[0-9]+", value):
        return int(value)
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", value, re.IGNORECASE):
        return float(value)
    return {"true": True, "false": False}.get(value.lower(), value)
