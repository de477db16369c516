"""The pytest plugin: assertions as fixtures. It imports nothing that computes; pytest loads it in every session."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from assay.analyses.compare.result import Comparison


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

    def run(*args: Any, **how: Any) -> "Comparison":
        __tracebackhide__ = True
        found = assertion(*args, **how)
        request.node.user_properties += [("assay", found.sentence), ("assay_signature", found.signature)]
        return found

    run.__name__, run.__doc__ = assertion.__name__, assertion.__doc__
    return run
