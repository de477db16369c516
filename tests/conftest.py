import gc

import pytest
from hypothesis import settings

# The examples of this profile are the same each time; more of them would be more of the same.
settings.register_profile("ci", settings.get_profile("ci"), max_examples=40)
# Other examples each night, and at least a hundred of them, also where a test asks for fewer by day.
settings.register_profile("nightly", settings.get_profile("default"), deadline=None, max_examples=100, print_blob=True)

_SETTINGS = "_hypothesis_internal_use_settings"  # where Hypothesis keeps them; there is no public way


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Coverage is measured where it is promised: its tracer takes as long again as what it traces.

    What takes hours runs only when it is asked for: `pytest -m nightly`.
    """
    if settings.get_current_profile_name() == "nightly":
        for test in (getattr(item, "obj", None) for item in items):
            if own := getattr(test, _SETTINGS, None):
                setattr(test, _SETTINGS, settings(own, max_examples=max(own.max_examples, 100)))
    for item in items:
        if item.nodeid.startswith("tests/stats/") and not item.get_closest_marker("untraced"):
            item.add_marker("traced")
    if "nightly" not in (config.getoption("markexpr") or ""):
        asleep = [item for item in items if item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=asleep)
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]


def pytest_collection_finish() -> None:
    """What was imported by now stays, and no later search for garbage looks at it: some oracles search at each call."""
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """So does what a module of tests imported late (torch, transformers, statsmodels): many thousands of objects."""
    if nextitem is None or item.path != nextitem.path:
        gc.collect()
        gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()
