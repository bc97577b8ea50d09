"""What the tasks of the mart share: the catalog, opened where it is, and what askers may learn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import BadDefinition, Infeasible, Refused, ShoalError, UserError
from shoal.events import Event, Phase
from shoal.mart import read_catalog
from shoal.web.mart.catalog import BrokenMart
from shoal.web.problems import problem_of

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog
    from shoal.web.jobs.model import Context


def answered(
    arguments: Mapping[str, Any], work: Callable[[Catalog], Mapping[str, Any]]
) -> dict[str, Any]:
    """What the work gives; else `refused` or `failed` with a problem that the asker may read.

    The asker may read why the request was refused. What is wrong with the catalog, a source or the
    log is for its owner: such texts name files of the server. The mart's log has them.
    """
    try:
        with opened(arguments) as catalog:
            return dict(work(catalog))
    except ShoalError as error:
        if isinstance(error, Refused | Infeasible) or _is_of_request(error):
            return {"refused": problem_of(error)}
        if isinstance(error, UserError):
            return {"failed": problem_of(BrokenMart())}
        raise


def _is_of_request(error: ShoalError) -> bool:
    """Whether the error speaks of the request alone."""
    if isinstance(error, BadDefinition):
        return error.file == "request"
    return type(error) is UserError and error.code != "log-busy"


@contextmanager
def opened(arguments: Mapping[str, Any]) -> Iterator[Catalog]:
    """The catalog.

    The work is done in the catalog's folder, since the path in the URL of an SQLite database is
    relative to the folder that a program runs in.
    """
    path, before = Path(arguments["catalog"]), Path.cwd()
    catalog = read_catalog(path)
    os.chdir(path.parent)
    try:
        yield catalog
    finally:
        os.chdir(before)


def asker_observes(context: Context) -> Callable[[Event], None]:
    """Pass the names of the phases on, and no detail: details have counts."""

    def observe(event: Event) -> None:
        if isinstance(event, Phase):
            context.observe(Phase(event.name))

    return observe
