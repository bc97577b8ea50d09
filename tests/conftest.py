"""What all tests share: real servers, a real cluster, and the rule that none is skipped in CI."""

import gc

from hypothesis import settings

pytest_plugins = ("servers", "cluster", "skips", "web.server", "web.marts")

settings.register_profile("untimed", settings.default, deadline=None)
settings.load_profile("untimed")


def pytest_collection_finish() -> None:
    """Take all that is imported and collected out of garbage collection, which then costs less."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Free everything again: some libraries complain about objects that outlive them."""
    gc.unfreeze()
