"""A definition as a mapping with the keys of the file, and as text: YAML, JSON or XML.

The text reads back as an equal definition; only comments are lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import yaml

from shoal.definition.hierarchies.registry import written
from shoal.definition.locations import LOCATION_KEYS
from shoal.definition.scalars import plain

if TYPE_CHECKING:
    from shoal.definition.model import Attribute, Definition


WIDTH = 100

_PLAIN = re.compile(r"[^\W\d][\w./-]*( [\w./-]+)*|[0-9]+(\.[0-9]+)?( ?%| s)")
"""Text that needs no quotes in any YAML reader, unless it is one of these words."""
_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))


def to_mapping(definition: Definition) -> dict[str, Any]:
    """The definition in the keys of its file, defaults left out, short forms where there are any.

    `from_mapping` makes an equal definition of it. Paths stay as they are: they are relative to the
    folder that the program runs in.
    """
    found: dict[str, Any] = plain(definition.model_dump(by_alias=True, exclude_defaults=True))
    found["source"] = source_mapping(found["source"])
    if "population" in found:
        found["population"]["source"] = source_mapping(found["population"]["source"])
    for key, short in (("output", "path"), ("missing", "match"), ("loss", "name")):
        if key in found:
            found[key] = short_form(found[key], short)
    if isinstance(definition.suppression, float) and "suppression" in found:
        found["suppression"] = percent(definition.suppression)
    if definition.risk is not None and (above := definition.risk.records_above) is not None:
        found["risk"]["records above"]["share"] = percent(above.share)
    if definition.search.time_limit is not None:
        found["search"]["time limit"] = duration(definition.search.time_limit)
    found["attributes"] = {
        name: attribute_mapping(attribute) for name, attribute in definition.attributes.items()
    }
    return found


def attribute_mapping(attribute: Attribute) -> dict[str, Any] | str:
    """One attribute in the keys of the file; a bare role where there is nothing else."""
    found: dict[str, Any] = plain(attribute.model_dump(by_alias=True, exclude_defaults=True))
    if attribute.hierarchy is not None:
        found["hierarchy"] = written(attribute.hierarchy)
    return found["role"] if found.keys() == {"role"} else found


def to_yaml(definition: Definition) -> str:
    """The definition as YAML, one line for each key and attribute as far as they fit."""
    mapping = to_mapping(definition)
    return "".join(f"{line}\n" for key in mapping for line in yaml_lines(key, mapping[key]))


LONGEST_KEY = 1000
"""Characters of a key that YAML reads before its colon, with room for the quotes."""


def yaml_lines(key: str, value: object, indent: str = "") -> Iterator[str]:
    """A key and its value: on one line where it fits, else a line for each key inside it.

    The attributes always have a line each, since that is what people edit. YAML reads a key of more
    than 1024 characters only behind a question mark, with its value on another line.
    """
    name = _inline(key)
    if len(name) > LONGEST_KEY:
        yield f"{indent}? {name}"
        name = ""
    line = f"{indent}{name}: {_inline(value)}"
    whole = len(line) <= WIDTH and not (key == "attributes" and not indent)
    if whole or not isinstance(value, Mapping) or not value:
        yield line
    else:
        yield f"{indent}{name}:"
        for inner, below in value.items():
            yield from yaml_lines(inner, below, f"{indent}  ")


def source_mapping(given: Any) -> Any:
    """One location, or a list of them; the key that shows the kind comes first."""
    if isinstance(given, list):
        return [source_mapping(each) for each in given]
    first = {key: given[key] for key in LOCATION_KEYS if key in given}
    return short_form({**first, **given}, "path")


def short_form(mapping: dict[str, Any], key: str) -> Any:
    """The value of the key alone, where the mapping says nothing else and it is no URL."""
    alone = mapping.keys() == {key} and "://" not in str(mapping[key])
    return mapping[key] if alone else mapping


def percent(share: float) -> str:
    """A share in percent, exactly."""
    return f"{_decimal(Decimal(repr(share)) * 100)}%"


def duration(seconds: float) -> str:
    """A time in seconds, exactly."""
    return f"{_decimal(Decimal(repr(seconds)))} s"


def _decimal(number: Decimal) -> str:
    """A number without exponent and without needless zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _inline(value: object) -> str:
    """A value on one line of YAML; text is quoted wherever a reader might take it for more."""
    if isinstance(value, Mapping):
        inner = (f"{_inline(key)}: {_inline(below)}" for key, below in value.items())
        return f"{{{', '.join(inner)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    if not isinstance(value, str) or (_PLAIN.fullmatch(text) and text.lower() not in _WORDS):
        return text
    return _quoted(text)


def _quoted(text: str) -> str:
    """The text in double quotes, with escapes where YAML needs them."""
    width = 12 * len(text) + 10
    return str(yaml.safe_dump(text, default_style='"', allow_unicode=True, width=width)).strip()


ENDINGS = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".xml": "xml"}
"""The language of a file by the ending of its name."""


def spelled(definition: Definition, spelling: str) -> str:
    """The definition as text in a spelling: yaml, json or xml.

    The text reads back as an equal definition: only keys that say what holds anyway are left out.
    """
    if spelling == "xml":
        from shoal.definition.xml_write import to_xml

        return to_xml(definition)
    if spelling == "json":
        return json.dumps(to_mapping(definition), indent=2, ensure_ascii=False) + "\n"
    return to_yaml(definition)
