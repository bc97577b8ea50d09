"""What a worker does. Each task is one module of this package, found by its name.

A task has `run(arguments, context)`: arguments and the returned result are JSON. It runs in a
process of its own and may open the files that its arguments name; the server wrote the arguments,
never a client. Its files go to `context.folder`.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from shoal.web.jobs.model import Context

Task: TypeAlias = "Callable[[Mapping[str, Any], Context], Any]"


def names() -> list[str]:
    """The names of all tasks."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def exists(name: str) -> bool:
    """Whether there is a task of this name."""
    is_name = re.fullmatch(r"[a-z][a-z0-9_]*", name) is not None
    return is_name and importlib.util.find_spec(f"{__name__}.{name}") is not None


def find(name: str) -> Task:
    """The function of a task."""
    if not exists(name):
        raise LookupError(f"there is no task {name!r}")
    task: Task = importlib.import_module(f"{__name__}.{name}").run
    return task
