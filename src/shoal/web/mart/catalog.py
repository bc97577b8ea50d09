"""The catalog that server.toml names, as each user may see it: names and labels, never records."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import ShoalError
from shoal.mart import read_catalog
from shoal.mart.describe import describe, stated_paths
from shoal.web.refusals import Refusal

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog
    from shoal.mart.describe import MartDescription
    from shoal.web.settings import MartSettings


class NoMart(Refusal):
    """The server has no data mart."""

    status = 404

    def __init__(self) -> None:
        super().__init__(
            "this server has no data mart",
            code="no-mart",
            hint='an administrator names a catalog in server.toml: [mart] catalog = "catalog.yaml"',
        )


class BrokenMart(Refusal):
    """The catalog cannot be read. What is wrong with it is not for researchers."""

    status = 503

    def __init__(self) -> None:
        super().__init__(
            "the catalog of the mart cannot be read at the moment",
            code="broken-mart",
            hint="tell a custodian: `shoal mart check CATALOG` says what is wrong",
        )


@dataclass(frozen=True)
class CatalogView:
    """What a user sees of the mart. `trees` has the hierarchy of each column that states one."""

    description: MartDescription
    trees: Mapping[str, Sequence[Mapping[str, Any]]]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the API."""
        return {**self.description.to_dict(), "trees": dict(self.trees)}


class CatalogFile:
    """The catalog, read again when one of its files changed."""

    def __init__(self, settings: MartSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._read: tuple[Catalog, Mapping[Path, tuple[int, int]]] | None = None

    def get(self) -> Catalog:
        """The catalog as it is now; its own error where it has mistakes."""
        with self._lock:
            if self._read is None or _stamps(self._read[1]) != self._read[1]:
                path = self._settings.catalog
                catalog = read_catalog(path)
                files = [path, *(each for each, _ in catalog.files)]
                self._read = catalog, _stamps(files)
            return self._read[0]

    def for_asker(self) -> Catalog:
        """The catalog; where it has mistakes, an error that does not say which."""
        try:
            return self.get()
        except ShoalError:
            raise BrokenMart from None


def view_of(catalog: Catalog, asker: str | None) -> CatalogView:
    """What the catalog shares with an asker; None sees all of it.

    Refused with the code `policy` if the asker may not ask at all.
    """
    description = describe(catalog, asker)
    trees = {}
    for column in description.columns:
        paths = stated_paths(catalog, catalog.find(column.name))
        if paths:
            trees[column.name] = _tree([path[::-1] for path in paths])
    return CatalogView(description, trees)


def _tree(paths: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Paths from the top as nodes with `label` and `children`."""
    below: dict[str, list[Sequence[str]]] = {}
    for first, *rest in paths:
        below.setdefault(first, [])
        if rest:
            below[first].append(rest)
    return [{"label": label, "children": _tree(rest)} for label, rest in below.items()]


def _stamps(files: Mapping[Path, Any] | Sequence[Path]) -> dict[Path, tuple[int, int]]:
    """When each file was changed, and its size; 0 for one that is gone."""
    found = {}
    for path in files:
        try:
            stat = path.stat()
            found[path] = stat.st_mtime_ns, stat.st_size
        except OSError:
            found[path] = 0, 0
    return found
