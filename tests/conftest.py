"""What all tests share: real servers, a real cluster, and the rule that none is skipped in CI."""

pytest_plugins = ("cluster", "servers", "skips")
