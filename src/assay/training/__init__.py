"""Training, recorded: a callback for `transformers.Trainer`, and runs of LoRA and full fine-tuning.

>>> from assay.training import Schedule
>>> Schedule().validation
100

torch is imported when the callback is asked for, not before.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.training.callback import AssayCallback
    from assay.training.fitting import Settings, fit
    from assay.training.recorder import Schedule
    from assay.training.run import TrainedRun, tune_run

__all__ = ["AssayCallback", "Schedule", "Settings", "TrainedRun", "fit", "tune_run"]

_HOMES = {
    "AssayCallback": "callback",
    "Settings": "fitting",
    "fit": "fitting",
    "Schedule": "recorder",
    "TrainedRun": "run",
    "tune_run": "run",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'assay.training' has no attribute {name!r}")
    return getattr(import_module(f"assay.training.{_HOMES[name]}"), name)
