"""The folder of a training run: which files in it are ours, and where what is only needed for a while goes."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.data.runs import owned_files
from assay.data.training import WINDOWS
from assay.data.training.events import EVENTS, MANIFEST
from assay.files.places import is_run
from assay.files.replacing import Owner

CHECKPOINTS = "checkpoints"
TRAINED = "trained"  # the folder of the adapter or of the model
UNFINISHED = "trained.part"  # the same, while it is written
SCRATCH = ".scratch"

#: Folders whose whole content is ours, and gone at the end of a run.
_PASSING = frozenset({f"{CHECKPOINTS}/", f"{UNFINISHED}/", f"{SCRATCH}/"})
#: What transformers and peft save of a model, an adapter and a tokenizer.
_SAVED = re.compile(
    r"(adapter_|generation_|tokenizer_|preprocessor_)?config\.json|README\.md|chat_template\.\w+"
    r"|(adapter_)?model(-\d+-of-\d+)?\.safetensors(\.index\.json)?"
    r"|tokenizer\.(json|model)|vocab\.(json|txt)|merges\.txt|(special_tokens_map|added_tokens)\.json"
)


def _owned(folder: Path) -> set[str] | None:
    if not is_run(folder, MANIFEST):
        return None
    trained, windows = folder / TRAINED, folder / WINDOWS
    saved = {f"{TRAINED}/{file.name}" for file in trained.glob("*") if _SAVED.fullmatch(file.name)}
    scored = {f"{WINDOWS}/{name}" for name in owned_files(windows) or ()}
    return {MANIFEST, EVENTS, *_PASSING, *saved, *scored}


#: Whose a training run is: what --overwrite may take away.
OWNER = Owner("training run", _owned, begun=_PASSING | {EVENTS})


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A folder for a while, inside the run: a kill leaves it where the next start removes it."""
    place = folder / SCRATCH
    remove_scratch(folder)
    place.mkdir(parents=True)
    try:
        yield place
    finally:
        remove_scratch(folder)


def remove_scratch(folder: Path) -> None:
    shutil.rmtree(folder / SCRATCH, ignore_errors=True)
