"""The sources of a catalog, opened when they are needed and closed together."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from shoal.engines.opening import open_source
from shoal.engines.process import half_of_memory
from shoal.events import Event, Working

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.engines.base import Source
    from shoal.engines.options import Resources
    from shoal.mart.catalog import Catalog, ColumnRef


def ignore(event: Event) -> None:
    """Observe nothing."""


class OpenedSources:
    """A context that opens each source at most once, and closes those that it opened.

    `spark` is the session for sources in Spark, else one is made. `observe` gets the progress of
    long queries.
    """

    def __init__(
        self, catalog: Catalog, *, spark: Any = None, observe: Callable[[Event], None] = ignore
    ) -> None:
        self.catalog = catalog
        self.spark = spark
        self._observe = observe
        self._sources: dict[str, Source] = {}
        self._closing = ExitStack()
        self.checked_keys: set[tuple[str, tuple[str, ...], bool, bool]] = set()
        """The keys that are known to be sound; see linking/keys.py."""
        self.checked_derived: set[ColumnRef] = set()
        """The derived columns that have a value in every record; see linking/derived.py."""

    @property
    def missing(self) -> tuple[str, ...]:
        """The texts that mean a missing value."""
        return self.catalog.missing.values

    def open(self, name: str) -> Source:
        """A source by its name in the catalog."""
        if name not in self._sources:
            described = self.catalog.sources[name]
            source = open_source(
                described.source.options(),
                expect=set(described.columns),
                resources=self.resources(),
                spark=self.spark,
            )
            self._closing.callback(source.close)
            self._sources[name] = source
        return self._sources[name]

    def resources(self) -> Resources:
        """Half of what the catalog allows.

        While a source is read, what is read of it is linked: both together keep the limit.
        """
        whole = self.catalog.engine.resources(lambda share: self._observe(Working(share)))
        limit = whole.memory_limit or half_of_memory()
        return whole if limit is None else replace(whole, memory_limit=max(1, limit // 2))

    def fingerprints(self) -> Mapping[str, str | None]:
        """The fingerprint of each source that was opened."""
        return {name: source.fingerprint() for name, source in sorted(self._sources.items())}

    def close(self) -> None:
        """Close what was opened; harmless when called twice."""
        self._closing.close()
        self._sources.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
