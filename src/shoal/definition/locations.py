"""How a definition says where records are or go; the same for sources and outputs.

`path` is a file, `url` a database, `spark` a cluster, and a bare text a path.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator

from shoal import plugins
from shoal.definition.scalars import DefinitionPart, Text, Wrong, as_list, nearest, shown
from shoal.engines.local_files import is_path
from shoal.engines.object_store.address import is_object
from shoal.engines.options import NATIVE
from shoal.errors import MissingExtra

LOCATION_KEYS = ("path", "url", "spark")
"""The keys that show the kind of a location."""
_ENDINGS = (".csv", ".parquet", ".json", ".jsonl", ".ndjson", ".orc")
Names: TypeAlias = Annotated[tuple[Text, ...], BeforeValidator(as_list)]


def installed(kind: str, verb: str) -> AfterValidator:
    """A format is one of our own or the name of an installed reader or writer."""

    def known(name: str) -> str:
        formats = [*NATIVE, *plugins.names(kind)]
        if name not in formats:
            raise Wrong(f"{shown(name)} is no format that can be {verb}", nearest(name, formats))
        return name

    return AfterValidator(known)


def check_options(
    kind: str, stated: str | None, path: PurePath, options: Mapping[str, str]
) -> None:
    """Options are those of a reader or writer, which the format or the ending names."""
    if not options:
        return
    names = (stated,) if stated else plugins.by_ending(kind, path.suffix.lower())
    if len(names) > 1:
        return
    name = next(iter(names), "") or path.suffix.lower().removeprefix(".")
    try:
        takes = () if name in NATIVE else tuple(getattr(plugins.ready(kind, name), "takes", ()))
    except MissingExtra as error:
        raise Wrong(error.what, error.hint) from None
    for option in options:
        if option not in takes:
            raise Wrong(
                f"{name} takes no option {shown(option)}",
                nearest(option, takes, "it takes none") if takes else "leave it out",
            )


def long_form(value: Any) -> Any:
    """A bare path becomes a mapping; anything whose kind is not clear is refused."""
    if isinstance(value, str) and "://" in value and not is_object(value):
        raise Wrong(
            "a URL alone does not say which table",
            "write for example `{url: postgresql://host/db, table: public.patients}`",
        )
    if isinstance(value, str | PurePath):
        return {"path": value}
    if isinstance(value, Mapping):
        kinds = [key for key in LOCATION_KEYS if key in value]
        if len(kinds) > 1:
            raise Wrong(
                f"several kinds of locations at once: {', '.join(kinds)}", "keep one of them"
            )
        if not kinds:
            first = str(next(iter(value), ""))
            raise Wrong(
                "names no location",
                nearest(first, LOCATION_KEYS, f"give one of {', '.join(LOCATION_KEYS)}"),
            )
        return value
    if isinstance(value, DefinitionPart):
        return value
    raise Wrong(f"{shown(value)} is no location", "write for example `patients.csv`")


def kind_of(value: Any) -> str:
    """The key that shows the kind: of a part, or of a mapping in its long form."""
    if isinstance(value, DefinitionPart):
        return next(key for key in LOCATION_KEYS if key in type(value).model_fields)
    return next((key for key in LOCATION_KEYS if key in value), "path")


def local_path(name: str, stated: str | None) -> str | None:
    """The path on this machine that a name of Spark may be; None for a table or another system.

    A path has a slash, an ending, or a stated format.
    """
    if not is_path(name):
        return None
    scheme, is_uri, rest = name.partition(":")
    if is_uri and "/" not in scheme:
        return f"/{rest.lstrip('/')}" if scheme == "file" else None
    has_path = "/" in name or stated is not None or PurePath(name).suffix.lower() in _ENDINGS
    return name if has_path else None
