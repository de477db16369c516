from pathlib import Path

import pytest

from tests.certificate.suite.samples import KINDS, issue


@pytest.fixture(scope="module", params=KINDS)
def over_tasks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of each kind in turn; tests write their own files elsewhere."""
    return issue(request.param, tmp_path_factory.mktemp("issued"))
