"""Reports on the shipped runs, made once."""

import pytest

from assay.analyses.tune import tune
from assay.analyses.tune.result import TuningReport
from assay.examples import RUNS
from tests.analyses.tune.shipped import ARMS, EMBEDDINGS, FULL, LORA


@pytest.fixture(scope="session")
def shipped() -> TuningReport:
    return tune(*LORA, *FULL, RUNS / "lora-rates", RUNS / "full-rates", targets="japanese")


@pytest.fixture(scope="session")
def every_arm() -> TuningReport:
    return tune(*LORA, *EMBEDDINGS, *FULL, *(RUNS / f"{arm}-rates" for arm in ARMS), targets="japanese")
