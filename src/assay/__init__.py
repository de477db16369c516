"""Assay: model B scores better than model A. Is that real?

>>> import assay
>>> before = {"item": range(12), "score": [1] * 6 + [0] * 6}
>>> after = {"item": range(12), "score": [1] * 12}
>>> assay.compare(before, after).verdict
'better'

The verbs and records are imported when first used, so that ``import assay`` costs nothing.
"""

from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

from assay.version import VERSION

__version__ = VERSION

if TYPE_CHECKING:
    from assay.analyses.calibrate import calibrate
    from assay.analyses.calibrate.result import Calibration
    from assay.analyses.compare import compare
    from assay.analyses.compare.result import Comparison
    from assay.analyses.context import context
    from assay.analyses.context.result import ContextCurve
    from assay.analyses.japanese import japanese
    from assay.analyses.japanese.result import Japanese
    from assay.analyses.japanese.text_panel import text_panel
    from assay.analyses.power import power
    from assay.analyses.power.result import Power
    from assay.analyses.power.survey_noise import SurveyNoise, SurveyPlan
    from assay.analyses.rank import rank
    from assay.analyses.rank.result import Leaderboard
    from assay.analyses.reliability import reliability
    from assay.analyses.reliability.result import Reliability
    from assay.analyses.suite import compare_suite
    from assay.analyses.suite.result import SuiteComparison
    from assay.analyses.summarize import summarize
    from assay.analyses.summarize.result import Summary
    from assay.analyses.survey import survey
    from assay.analyses.survey.result import SurveyReport
    from assay.analyses.tune import tune
    from assay.analyses.tune.result import TuningReport
    from assay.analyses.tune.targets import Targets
    from assay.analyses.watch import watch
    from assay.analyses.watch.result import Watch
    from assay.certificate import certify
    from assay.certificate.gate.issue import gate
    from assay.certificate.gate.record import GateCertificate
    from assay.certificate.policy_file import read_policy
    from assay.certificate.record import Certificate
    from assay.certificate.suite.record import SuiteCertificate
    from assay.certificate.verification import Verification
    from assay.certificate.verify import verify
    from assay.conversion import ConvertedFiles, convert
    from assay.data import Panel, Selection, Table, pair, read_table, read_tables
    from assay.data.readers.formats import HarnessFormat, formats
    from assay.design import Design, Policy
    from assay.engines import Engine
    from assay.engines.replicates import resampling_on
    from assay.errors import AssayError, InputError, UsageError
    from assay.limits import GroupLimits, Limits, TotalLimits
    from assay.report.files import write_report
    from assay.scoring import score
    from assay.scoring.characters import characters
    from assay.scoring.decoding import Decoding
    from assay.scoring.generation import generate
    from assay.scoring.models_and_texts import Document, EndpointSpec, ModelSpec
    from assay.scoring.windows import Plan
    from assay.stats.planning.plans import Goal, Shares, Spread, Structure
    from assay.stats.records import Estimate, Fallback, Interval, Test
    from assay.training.run import tune_run

_HOMES = {
    "certify": "assay.certificate",
    "Certificate": "assay.certificate.record",
    "SuiteCertificate": "assay.certificate.suite.record",
    "gate": "assay.certificate.gate.issue",
    "GateCertificate": "assay.certificate.gate.record",
    "verify": "assay.certificate.verify",
    "Verification": "assay.certificate.verification",
    "read_policy": "assay.certificate.policy_file",
    "calibrate": "assay.analyses.calibrate",
    "Calibration": "assay.analyses.calibrate.result",
    "compare": "assay.analyses.compare",
    "convert": "assay.conversion",
    "ConvertedFiles": "assay.conversion",
    "context": "assay.analyses.context",
    "ContextCurve": "assay.analyses.context.result",
    "japanese": "assay.analyses.japanese",
    "Japanese": "assay.analyses.japanese.result",
    "characters": "assay.scoring.characters",
    "generate": "assay.scoring.generation",
    "Decoding": "assay.scoring.decoding",
    "tune": "assay.analyses.tune",
    "Targets": "assay.analyses.tune.targets",
    "TuningReport": "assay.analyses.tune.result",
    "rank": "assay.analyses.rank",
    "compare_suite": "assay.analyses.suite",
    "SuiteComparison": "assay.analyses.suite.result",
    "summarize": "assay.analyses.summarize",
    "Summary": "assay.analyses.summarize.result",
    "survey": "assay.analyses.survey",
    "SurveyReport": "assay.analyses.survey.result",
    "Leaderboard": "assay.analyses.rank.result",
    "reliability": "assay.analyses.reliability",
    "Reliability": "assay.analyses.reliability.result",
    "watch": "assay.analyses.watch",
    "Watch": "assay.analyses.watch.result",
    "power": "assay.analyses.power",
    "Power": "assay.analyses.power.result",
    "SurveyNoise": "assay.analyses.power.survey_noise",
    "SurveyPlan": "assay.analyses.power.survey_noise",
    "Goal": "assay.stats.planning.plans",
    "Shares": "assay.stats.planning.plans",
    "Spread": "assay.stats.planning.plans",
    "Structure": "assay.stats.planning.plans",
    "score": "assay.scoring",
    "Plan": "assay.scoring.windows",
    "ModelSpec": "assay.scoring.models_and_texts",
    "EndpointSpec": "assay.scoring.models_and_texts",
    "Document": "assay.scoring.models_and_texts",
    "Engine": "assay.engines",
    "resampling_on": "assay.engines.replicates",
    "tune_run": "assay.training.run",
    "write_report": "assay.report.files",
    "Comparison": "assay.analyses.compare.result",
    "Panel": "assay.data",
    "Table": "assay.data",
    "pair": "assay.data",
    "read_table": "assay.data",
    "read_tables": "assay.data",
    "Selection": "assay.data",
    "formats": "assay.data.readers.formats",
    "HarnessFormat": "assay.data.readers.formats",
    "text_panel": "assay.analyses.japanese.text_panel",
    "Design": "assay.design",
    "Policy": "assay.design",
    "Limits": "assay.limits",
    "GroupLimits": "assay.limits",
    "TotalLimits": "assay.limits",
    "AssayError": "assay.errors",
    "InputError": "assay.errors",
    "UsageError": "assay.errors",
    "Estimate": "assay.stats.records",
    "Fallback": "assay.stats.records",
    "Interval": "assay.stats.records",
    "Test": "assay.stats.records",
}

__all__ = [
    "AssayError",
    "Calibration",
    "Certificate",
    "Comparison",
    "ContextCurve",
    "ConvertedFiles",
    "Decoding",
    "Design",
    "Document",
    "EndpointSpec",
    "Engine",
    "Estimate",
    "Fallback",
    "GateCertificate",
    "Goal",
    "GroupLimits",
    "HarnessFormat",
    "InputError",
    "Interval",
    "Japanese",
    "Leaderboard",
    "Limits",
    "ModelSpec",
    "Panel",
    "Plan",
    "Policy",
    "Power",
    "Reliability",
    "Selection",
    "Shares",
    "Spread",
    "Structure",
    "SuiteCertificate",
    "SuiteComparison",
    "Summary",
    "SurveyNoise",
    "SurveyPlan",
    "SurveyReport",
    "Table",
    "Targets",
    "Test",
    "TotalLimits",
    "TuningReport",
    "UsageError",
    "Verification",
    "Watch",
    "__version__",
    "calibrate",
    "certify",
    "characters",
    "compare",
    "compare_suite",
    "context",
    "convert",
    "formats",
    "gate",
    "generate",
    "japanese",
    "pair",
    "power",
    "rank",
    "read_policy",
    "read_table",
    "read_tables",
    "reliability",
    "resampling_on",
    "score",
    "summarize",
    "survey",
    "text_panel",
    "tune",
    "tune_run",
    "verify",
    "watch",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    value.__module__ = "assay"  # where help, tracebacks and pickles shall look for it
    if isinstance(value, FunctionType):
        from assay.files.stores.doors import at_the_door  # late: whoever only asks for the version needs none of it

        value = at_the_door(value)
    globals()[name] = value
    _show_in_notebooks()
    return value


def _show_in_notebooks() -> None:
    """Results of analyses know nothing of reports; whoever uses the package gets them with their charts."""
    from assay.results.record import Result

    Result.notebook = _notebook_html


def _notebook_html(result: Any) -> str:
    from assay.report.notebook import section_html  # late: half a second, and only notebooks ask for it

    return section_html(result)


def __dir__() -> list[str]:
    return sorted(__all__)
