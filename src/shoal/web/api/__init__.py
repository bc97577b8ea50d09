"""The REST API under /api/v1: one module for each resource, with `router(services)`.

`access` says who may do what and how errors are answered, `models` is what clients send and get.
`definitions` is read first by whoever adds a key to a definition: it replaces or refuses every key
that could lead to a file. The resources: `uploads`, `sources`, `submit` and `jobs`, `releases`,
`mart`, `health`, `metrics`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import APIRouter

    from shoal.web.services import Services

PREFIX = "/api/v1"


def routers(services: Services) -> Iterator[APIRouter]:
    """The router of every module of this package that has one."""
    for found in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        module = importlib.import_module(f"{__name__}.{found}")
        if hasattr(module, "router"):
            yield module.router(services)
