"""What all tests share: real servers, a real cluster, and rules for all of them."""

import functools
import gc

import typer.testing
from hypothesis import settings

pytest_plugins = (
    "servers",
    "cluster",
    "object_store",
    "skips",
    "example_budgets",
    "web.server",
    "web.tabs",
    "web.marts",
)

settings.register_profile("untimed", settings.default, deadline=None)
settings.load_profile("untimed")

# Build the commands once for a test process; typer does it again for every invocation.
build = "_get_command"
setattr(typer.testing, build, functools.cache(getattr(typer.testing, build)))


# Nothing that is imported and collected is garbage, so do not look for any until that is done.
gc.disable()

MANY_OBJECTS = 50_000
"""Look for garbage after so many new objects. Most die before: that spares 8% of the time."""


def pytest_collection_finish() -> None:
    """Take all that is imported and collected out of garbage collection, which then costs less."""
    gc.freeze()
    gc.set_threshold(MANY_OBJECTS)
    gc.enable()


def pytest_unconfigure() -> None:
    """Free everything again: some libraries complain about objects that outlive them."""
    gc.unfreeze()
