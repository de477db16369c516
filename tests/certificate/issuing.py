"""Certificates by the number of their tasks, for tests that know which they issue."""

from typing import Any

from assay.certificate import certify
from assay.certificate.record import Certificate
from assay.certificate.suite.record import SuiteCertificate


def certify_alone(*given: Any, **asked: Any) -> Certificate:
    """Certify what has one task."""
    found = certify(*given, **asked)
    assert isinstance(found, Certificate)
    return found


def certify_tasks(*given: Any, **asked: Any) -> SuiteCertificate:
    """Certify what has several tasks."""
    found = certify(*given, **asked)
    assert isinstance(found, SuiteCertificate)
    return found


def certify_any(*given: Any, **asked: Any) -> Certificate | SuiteCertificate:
    """Certify what may have any number of tasks."""
    return certify(*given, **asked)
