"""What all tests share: real servers, a real cluster, and the rule that none is skipped in CI."""

from hypothesis import settings

pytest_plugins = ("servers", "cluster", "skips")

settings.register_profile("untimed", settings.default, deadline=None)
settings.load_profile("untimed")
