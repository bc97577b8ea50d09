"""The pages: one module each, with `register(services)`, which defines its routes.

`frame`, `theme` and `components` are what pages are made of; `job_progress` follows a job. The
steps of a project: `data`, `columns`, `hierarchies`, `demand`, `search`, `explore`, `compare`,
`decide`. A module whose name begins with that of a step is a part of its page: `demand_side`. The
mart: `catalog`, `request`, `requests`, `inbox`, and their parts. `terms` explains words.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.web.services import Services


def register_all(services: Services) -> None:
    """Call `register` of every module of this package that has it."""
    for found in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        module = importlib.import_module(f"{__name__}.{found}")
        if hasattr(module, "register"):
            module.register(services)
