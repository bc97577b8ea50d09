"""Definitions of clients: no path, address or cluster that a client names is ever opened.

A definition names its files as on the command line, and the request says which upload each name
stands for. What is run has file names of our own, which a worker links to the uploads. Every key
that could lead to a file is on a list here, and is replaced or refused; a key that is on no list is
refused too.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from fastapi import APIRouter, Request

from shoal.definition.model import Definition
from shoal.definition.parse import Parsed, Unreadable, parse_json
from shoal.definition.read import from_parsed, parse
from shoal.definition.write import spelled, to_mapping, yaml_lines
from shoal.errors import BadDefinition, Mistake, quoted
from shoal.web.api.access import custodian, problems, secured
from shoal.web.api.models import Checked, DefinitionIn
from shoal.web.project_definition import KEYS, allowed_for, plain_file_name
from shoal.web.refusals import NotFound
from shoal.web.services import Services
from shoal.web.users import User

FILE = "definition"
"""What messages call a definition that a client sent."""
SOURCE_KEYS = frozenset(
    "format delimiter quote encoding header decimal options rename columns".split()
)
OUTPUT_KEYS = frozenset("format delimiter formulas encoding decimal options".split())
FORMATS = frozenset(("csv", "parquet", "json", "excel", "xml"))
OUTPUT_ENDINGS = frozenset((".csv", ".parquet", ".json", ".xlsx", ".xml"))
HIERARCHIES = frozenset(("suppress", "mask", "intervals", "cuts", "date", "groups", "tree"))
SEARCH_KEYS = frozenset(("strategy", "time limit", "gap", "effort", "backtrack", "parameters"))
PARAMETER = re.compile(r"[\w %+-]{0,100}|[+-]?[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?%?")
"""A parameter of a plug-in: a number or plain words, nothing that could be a path."""


@dataclass(frozen=True)
class Prepared:
    """A definition of a client, checked: what a worker runs, and what its owner may download.

    `mapping` has our names for files; `files` says where they are. `texts` is the definition in
    each form that can say it.
    """

    mapping: Mapping[str, Any]
    files: Mapping[str, Path]
    texts: Mapping[str, str]
    output: str

    @property
    def layout(self) -> dict[str, Any]:
        """The same for a task (laid_out.py)."""
        files = {name: str(path) for name, path in self.files.items()}
        return {"file": FILE, "mapping": dict(self.mapping), "files": files}


async def prepared(
    services: Services, user: User, request: Request, body: DefinitionIn
) -> Prepared:
    """The definition in a request, checked; all its mistakes at once."""
    raw = await request.body()
    return await asyncio.to_thread(_prepare, services, user, raw, body)


def _prepare(services: Services, user: User, raw: bytes, body: DefinitionIn) -> Prepared:
    parsed = _parsed(raw, body)
    translation = _Translation(services, user, body.files)
    shown = translation.definition(parsed.data)
    mistakes = (*parsed.mistakes, *translation.mistakes)
    real = translation.with_real_paths(shown)
    checked = replace(parsed, data=real, mistakes=mistakes)
    definition = from_parsed(checked, FILE, Path())
    return Prepared(
        translation.with_locations(shown),
        translation.files,
        _texts(definition, shown, names_sources=bool(translation.locations)),
        str(shown["output"]["path"]),
    )


def _parsed(raw: bytes, body: DefinitionIn) -> Parsed:
    """The definition as its reader sees it: keys that occur twice are mistakes."""
    if isinstance(body.definition, str):
        ending = "" if body.format is None else f".{body.format}"
        found = parse(body.definition.encode(), FILE, ending)
    else:
        try:
            request = parse_json(raw.decode("utf-8-sig"))
        except (UnicodeDecodeError, Unreadable):
            what = "cannot be read as JSON"
            raise BadDefinition("request", [Mistake("body", what, "send JSON in UTF-8")]) from None
        found = Parsed(request.data["definition"], mistakes=request.mistakes)
    if not isinstance(found.data, Mapping):
        remedy = "begin with `source:`, `k:` and `attributes:`"
        raise BadDefinition(FILE, [Mistake("file", "is no mapping of keys", remedy)])
    return found


@dataclass(eq=False)
class _Translation:
    """Replaces what a client says about files by what the server knows."""

    services: Services
    user: User
    uploads: Mapping[str, str]
    files: dict[str, Path] = field(default_factory=dict)
    locations: dict[str, Any] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def definition(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The definition with our own names for files."""
        found: dict[str, Any] = {}
        for key, value in data.items():
            if key == "source":
                found[key] = self.source(key, value)
            elif key == "population" and isinstance(value, Mapping):
                source = self.source("population.source", value.get("source"))
                found[key] = {**value, "source": source}
            elif key == "attributes" and isinstance(value, Mapping):
                found[key] = {name: self.attribute(name, said) for name, said in value.items()}
            elif key == "search" and isinstance(value, Mapping):
                found[key] = self.search(value)
            elif key in KEYS:
                self.check_parameters(key, value)
                found[key] = value
            elif key not in ("output", "report"):
                self.refuse_key(key)
        found["output"] = self.output(data.get("output", "release.csv"))
        return found

    def refuse_key(self, key: str) -> None:
        """A key that is the server's to decide, or none at all."""
        if key in Definition.model_fields:
            self.refuse(key, "is decided by the server", "leave it out")
        else:
            known = quoted(sorted(KEYS | {"source", "output"}))
            self.refuse(str(key)[:100], "is no key of a definition", f"there are {known}")

    def source(self, key: str, said: Any) -> Any:
        """A location: an upload by a name or an id, or a source that is allowed by its name."""
        if isinstance(said, str):
            said = {"path": said}
        if not isinstance(said, Mapping):
            return self.refuse(key, "names no upload", "write {upload: ID} or {source: NAME}")
        more = {name: value for name, value in said.items() if name not in _LOCATIONS}
        for name in more.keys() - SOURCE_KEYS:
            self.refuse(f"{key}.{name}", "is not possible on a server", "leave it out")
        if str(more.get("format", "csv")) not in FORMATS:
            self.refuse(f"{key}.format", "is no format here", f"one of {quoted(sorted(FORMATS))}")
        kinds = said.keys() & _LOCATIONS
        if kinds == {"source"}:
            if more:
                self.refuse(key, "has further keys", "write {source: NAME} alone")
            return self.allowed(key, str(said["source"]))
        if kinds in ({"upload"}, {"path"}):
            name = self.upload(key, said)
            return {"path": name, **more} if more else name
        return self.refuse(key, "names no upload", "write {upload: ID} or {source: NAME}")

    def allowed(self, key: str, name: str) -> Any:
        """A source that the administrator allows; its location stays with the server."""
        sources = {source.name: source for source in allowed_for(self.services, self.user)}
        if name not in sources:
            remedy = f"there are {quoted(sorted(sources)) or 'none'}"
            return self.refuse(key, "is no source that you may use", remedy)
        self.locations[key] = sources[name].location
        return {"source": name}

    def upload(self, key: str, said: Mapping[str, Any], folder: str = "") -> str:
        """Our name for an upload, which is a file from now on."""
        identity = said.get("upload", self.uploads.get(str(said.get("path"))))
        if identity is None:
            remedy = "upload it, and give its id under `files` with the same name"
            return self.refuse(key, "is no file of this request", remedy) or "data.csv"
        try:
            found = self.services.uploads.get(str(identity), self.user.name)
            path = self.services.uploads.path(found.id, self.user.name)
        except NotFound as error:
            return self.refuse(key, error.what, error.hint) or "data.csv"
        name = folder + _file_name(found.label, found.file)
        while self.files.get(name, path) != path:
            name = f"{folder}{len(self.files)}-{name.removeprefix(folder)}"
        self.files[name] = path
        return name

    def attribute(self, name: str, said: Any) -> Any:
        """An attribute: its hierarchy may be an upload."""
        if not isinstance(said, Mapping):
            return said
        self.check_parameters(f"attributes.{name}.privacy", said.get("privacy"))
        if said.get("hierarchy") is None:
            return said
        return {
            **said,
            "hierarchy": self.hierarchy(f"attributes.{name}.hierarchy", said["hierarchy"]),
        }

    def hierarchy(self, key: str, said: Any) -> Any:
        """A hierarchy of a kind that names no file, or one that is an upload."""
        if isinstance(said, str) and said in self.uploads:
            return self.upload(key, {"path": said}, "hierarchies/")
        if isinstance(said, str) and said != "suppress" and re.search(r"[./\\]", said):
            return self.upload(key, {"path": said}, "hierarchies/")
        if not isinstance(said, Mapping):
            return said
        if said.keys() & {"upload", "path"}:
            path = self.upload(key, said, "hierarchies/")
            more = {name: value for name, value in said.items() if name not in ("upload", "path")}
            return {"path": path, **more} if more else path
        self.check_parameters(key, said if not said.keys() & HIERARCHIES else None)
        return said

    def search(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """How to search; the server decides with how many threads."""
        self.check_parameters("search.parameters", said.get("parameters"))
        found = {key: value for key, value in said.items() if key in SEARCH_KEYS}
        for key in said.keys() - SEARCH_KEYS - {"threads"}:
            self.refuse(f"search.{key}", "is no key of a search", f"one of {quoted(SEARCH_KEYS)}")
        return found

    def output(self, said: Any) -> dict[str, Any]:
        """The release: a file name, which the client may choose, in no folder."""
        said = {"path": said} if isinstance(said, str) else said
        if not isinstance(said, Mapping) or not isinstance(said.get("path"), str):
            self.refuse("output", "is no file name", "write `output: release.csv`")
            return {"path": "release.csv"}
        for name in said.keys() - OUTPUT_KEYS - {"path"}:
            self.refuse(f"output.{name}", "is not possible on a server", "leave it out")
        path = plain_file_name(said["path"])
        if PurePosixPath(path).suffix.lower() not in OUTPUT_ENDINGS:
            endings = ", ".join(sorted(OUTPUT_ENDINGS))
            self.refuse("output", "has an ending that is no format here", f"one of {endings}")
        if str(said.get("format", "csv")) not in FORMATS:
            self.refuse("output.format", "is no format here", f"one of {quoted(sorted(FORMATS))}")
        if path in self.files:
            self.refuse("output", "has the name of the source", "give it another name")
        return {**{key: said[key] for key in said.keys() & OUTPUT_KEYS}, "path": path}

    def check_parameters(self, key: str, said: Any) -> None:
        """Refuse texts that could be a path, wherever a plug-in may get parameters."""
        if isinstance(said, Mapping):
            for name, value in said.items():
                self.check_parameters(f"{key}.{name}", value)
        elif isinstance(said, list):
            for value in said:
                self.check_parameters(key, value)
        elif isinstance(said, str) and key not in _FREE and not PARAMETER.fullmatch(said):
            self.refuse(key[:200], "is neither a number nor plain words", "write it with letters")

    def with_real_paths(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        """The definition with the real paths of all files, to be checked here."""
        found = self.with_locations(shown)
        found["source"] = self._real_source(found.get("source"))
        if isinstance(found.get("population"), Mapping):
            source = self._real_source(found["population"].get("source"))
            found["population"] = {**found["population"], "source": source}
        attributes = found.get("attributes")
        if isinstance(attributes, Mapping):
            found["attributes"] = {name: self._real(said) for name, said in attributes.items()}
        return found

    def _real(self, said: Any) -> Any:
        if not isinstance(said, Mapping) or "hierarchy" not in said:
            return said
        return {**said, "hierarchy": self._real_source(said["hierarchy"])}

    def _real_source(self, said: Any) -> Any:
        """What names a file, with its real path."""
        if isinstance(said, str) and said in self.files:
            return {"path": str(self.files[said])}
        if isinstance(said, Mapping) and str(said.get("path")) in self.files:
            return {**said, "path": str(self.files[str(said["path"])])}
        return said

    def with_locations(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        """The definition with the locations of allowed sources."""
        found = dict(shown)
        if "source" in self.locations:
            found["source"] = self.locations["source"]
        if "population.source" in self.locations:
            found["population"] = {
                **shown["population"],
                "source": self.locations["population.source"],
            }
        return found

    def refuse(self, key: str, what: str, remedy: str) -> Any:
        """Note a mistake; the check goes on, to find all of them."""
        self.mistakes.append(Mistake(key, what, remedy))


_LOCATIONS = frozenset(("upload", "path", "source", "url", "spark", "table", "query", "master"))
_FREE = frozenset(("missing.values", "person"))
"""Keys whose texts are values or names of columns."""


def _file_name(label: str, file: str) -> str:
    """The user's name for a file, with the ending of what it really is."""
    ending = file.partition(".")[2]
    name = plain_file_name(label)
    return name if name.lower().endswith(f".{ending}") else f"{name.partition('.')[0]}.{ending}"


def _texts(
    definition: Definition, shown: Mapping[str, Any], *, names_sources: bool
) -> dict[str, str]:
    """The definition to download: its files by their names, allowed sources by theirs.

    One that names allowed sources is for this server only, and has no other form than YAML.
    """
    mapping = to_mapping(definition)
    mapping["source"] = shown["source"]
    if "population" in shown:
        mapping["population"]["source"] = shown["population"]["source"]
    for name, said in shown["attributes"].items():
        if isinstance(said, Mapping) and _names_a_file(said.get("hierarchy")):
            mapping["attributes"][name]["hierarchy"] = said["hierarchy"]
    lines = (line for key in mapping for line in yaml_lines(key, mapping[key]))
    texts = {"yaml": "".join(f"{line}\n" for line in lines)}
    if not names_sources:
        model = Definition.model_validate(
            mapping, context={"folder": Path()}, by_alias=True, by_name=False
        )
        texts |= {"json": spelled(model, "json"), "xml": spelled(model, "xml")}
    return texts


def _names_a_file(hierarchy: Any) -> bool:
    if isinstance(hierarchy, Mapping):
        return "path" in hierarchy
    return isinstance(hierarchy, str) and hierarchy.startswith("hierarchies/")


def router(services: Services) -> APIRouter:
    """POST /definitions/check."""
    routes = APIRouter(prefix="/definitions", tags=["definitions"], dependencies=secured())

    @routes.post("/check", operation_id="checkDefinition", responses=problems(422))
    async def check(request: Request, body: DefinitionIn) -> Checked:
        """Check a definition without running it. All its mistakes come at once, as a problem."""
        found = await prepared(services, custodian(request), request, body)
        return Checked(definition=found.texts["yaml"], output=found.output)

    return routes
