"""Results that several tests of repeated runs look at."""

import pytest

from assay.analyses.reliability import reliability
from assay.analyses.reliability.result import Reliability
from tests.analyses.reliability.repeated import columns, simulated


@pytest.fixture(scope="module")
def three() -> Reliability:
    return reliability(columns(simulated(), "ABC"))
