"""The pytest plugin: assertions as fixtures. It imports nothing that computes; pytest loads it in every session."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from assay.analyses.compare.result import Comparison


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "assay(looks=5, spending='obrien-fleming', seed=0): functions that score items in assert_not_worse and "
        "assert_ratio_below are called only as often as the answer needs, with at most so many looks",
    )


@pytest.fixture
def assert_not_worse(request: pytest.FixtureRequest) -> "Callable[..., Comparison]":
    """Fail unless the candidate is shown to be worse than the baseline by at most `max_drop`."""
    from assay.testing import assert_not_worse

    return _recorded(request, assert_not_worse)


@pytest.fixture
def assert_ratio_below(request: pytest.FixtureRequest) -> "Callable[..., Comparison]":
    """Fail unless the candidate's perplexity is shown to be at most `max_ratio` times the baseline's."""
    from assay.testing import assert_ratio_below

    return _recorded(request, assert_ratio_below)


def _recorded(request: pytest.FixtureRequest, assertion: "Callable[..., Comparison]") -> "Callable[..., Comparison]":
    """The assertion; what passes leaves its sentence and signature in the JUnit file that pytest writes."""
    mark = request.node.get_closest_marker("assay")

    def run(*args: Any, **how: Any) -> "Comparison":
        __tracebackhide__ = True
        if mark is not None and "looks" not in how:
            from assay.testing.looking import Looks  # late, as is all that computes

            if mark.args or not mark.kwargs.keys() <= {"looks", "spending", "seed"}:
                raise pytest.UsageError("@pytest.mark.assay takes looks=, spending= and seed=.")
            how["looks"] = Looks(**mark.kwargs)
        found = assertion(*args, **how)
        request.node.user_properties += [("assay", found.sentence), ("assay_signature", found.signature)]
        return found

    run.__name__, run.__doc__ = assertion.__name__, assertion.__doc__
    return run
