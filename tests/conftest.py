import gc

import pytest
from hypothesis import settings

# The examples of this profile are the same each time; more of them would be more of the same.
settings.register_profile("ci", settings.get_profile("ci"), max_examples=40)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Coverage is measured where it is promised: its tracer takes as long again as what it traces."""
    for item in items:
        if item.nodeid.startswith("tests/stats/") and not item.get_closest_marker("untraced"):
            item.add_marker("traced")


def pytest_collection_finish() -> None:
    """What was imported by now stays, and no later search for garbage looks at it: some oracles search at each call."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()
