"""What the arms of logs are called that do not say it themselves: after the part of the path that tells them apart."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path

_STATE = ".trainer_state"  # as in lora.trainer_state.json

#: Names that programs give, to every run the same ones.
_GENERIC = re.compile(
    r"trainer_state|checkpoint([-_]?\d+)?|((train|training|trainer|eval)[-_])?(logs?|log_history|history|metrics|losses|"
    r"loss|results?|state|output|progress)|all_results|events|train|training",
    re.IGNORECASE,
)


def names_of(paths: Sequence[Path], taken: Collection[str] = ()) -> list[str]:
    """A name for each of these different files, none of them twice and none that is ``taken``.

    >>> names_of([Path("a/checkpoint-9/trainer_state.json"), Path("b/checkpoint-9/trainer_state.json")])
    ['a', 'b']
    >>> names_of([Path("lora/0/log.csv"), Path("full/0/log.csv"), Path("full/1/log.csv")])
    ['lora/0', 'full/0', 'full/1']
    """
    parts = [_telling(path) for path in paths]
    deepest = max(map(len, parts), default=0)
    single = ([some[min(depth, len(some) - 1)] for some in parts] for depth in range(deepest))
    joined = (["/".join(reversed(some[:depth])) for some in parts] for depth in range(2, deepest + 1))
    for names in (*single, *joined):
        if len(set(names)) == len(names) and not set(names) & set(taken):
            return names
    return _whole(paths)


def _telling(path: Path) -> list[str]:
    """The parts of a path that a person chose, from the file outwards; the outermost where none is."""
    folders = [part for part in path.parent.parts if part not in {path.anchor, ".."}]
    parts = [path.stem.removesuffix(_STATE), *reversed(folders)]
    return [part for part in parts if not _GENERIC.fullmatch(part)] or parts[-1:]


def _whole(paths: Sequence[Path]) -> list[str]:
    """The paths without what they all end in."""
    ends = {path.parts[-1] for path in paths}
    if len(ends) == 1 and all(path.parent.parts for path in paths):
        return _whole([path.parent for path in paths])
    return [path.as_posix() for path in paths]
