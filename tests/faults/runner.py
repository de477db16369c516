"""A process that has imported everything, and runs each command in a fork of itself with a fault in it.

Requests and answers are lines of JSON: what `run` takes, and what it gives.
"""

import gc
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.faults import commands
from tests.faults.shim import Kind, Shim, homes, unseen
from tools.warm import prepare

_MODELS = ["safetensors.torch", "torch", "transformers.trainer", "transformers.modeling_utils", "peft"]


def run(arguments: list[str], folder: str, said: str, kind: Kind, at: int, prelude: str | None) -> dict[str, Any]:
    """Run `assay` in a folder, both streams into the file ``said``, and wait; ``prelude`` is called before it."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _child(arguments, Path(folder), said, Shim(Path(folder), kind, at), prelude, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        counted = pipe.read()
    _, status = os.waitpid(child, 0)
    return {"code": os.waitstatus_to_exitcode(status), "counts": json.loads(counted) if counted else None}


def _child(arguments: list[str], folder: Path, said: str, shim: Shim, prelude: str | None, writer: int) -> None:
    code = 99
    try:
        stream = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for place in (1, 2):
            os.dup2(stream, place)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", buffering=1, closefd=False)
        os.chdir(folder)
        tempfile.tempdir = str(folder / "tmp")
        if prelude is not None:
            getattr(commands, prelude)()
        sys.argv = ["assay", *arguments]
        shim.install()
        code = _called()
        shim.kind = "count"
        os.write(writer, json.dumps([shim.count, shim.needing_room]).encode())
    finally:
        os._exit(code)


def _called() -> int:
    from assay.cli.main import main

    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def load_once() -> None:
    """Load a model: what the libraries work out for the first one is there for every fork."""
    from assay import models
    from assay.scoring.loading import load_model
    from assay.scoring.models_and_texts import ModelSpec

    load_model(ModelSpec(str(models.path("base"))))
    gc.freeze()


def serve(*, models: bool) -> None:
    """Answer requests until there are no more."""
    if models:
        import torch

        torch.set_num_threads(1)  # threads do not survive a fork
        prepare(left_out=re.compile(r".*\.__main__"), beside=_MODELS)
        load_once()
    else:
        prepare()
    for function, _, _ in unseen():
        homes(function)
    answers = os.fdopen(os.dup(1), "w")
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), file=answers, flush=True)
    os._exit(0)  # without the farewells of libraries that were forked


if __name__ == "__main__":
    serve(models="--models" in sys.argv)
