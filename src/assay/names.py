"""Names and texts from files and servers, as messages and pages show them.

Control and bidi characters, which would steer a terminal or a page, are replaced. Everything printed goes through one
of these: `one_line`, `shown` and `listed` inside messages, `visible` for what verbs print and for pages, `visible_json`
for JSON, in which every character must survive. `names_of` makes names of paths.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from pathlib import Path
from typing import Any

#: Characters of a name that a list in a message shows.
_LONGEST = 150

_SIGN = "\N{REPLACEMENT CHARACTER}"
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))  # they reorder text, numbers included
_CONTROL = (*(i for i in range(0x20) if chr(i) not in "\t\n"), *range(0x7F, 0xA0))  # a terminal obeys some of them
_HALVES = range(0xD800, 0xE000)  # of file names that are not Unicode; no file can hold them
_BREAKS = (0x2028, 0x2029)  # they end a line of what a chart's sorting is compiled to
_HIDDEN = (*_BIDI, *_CONTROL, *_BREAKS, *_HALVES, 0xFFFE, 0xFFFF)
_REPLACED = dict.fromkeys(_HIDDEN, _SIGN)
_ESCAPED = {code: f"\\u{code:04x}" for code in _HIDDEN if code >= 0x7F}  # JSON has escaped what is below
_STATE = ".trainer_state"  # as in lora.trainer_state.json
#: Names that programs give, to every run the same ones.
_GENERIC = re.compile(
    r"trainer_state|checkpoint([-_]?\d+)?|((train|training|trainer|eval)[-_])?(logs?|log_history|history|metrics|losses|"
    r"loss|results?|state|output|progress)|all_results|events|train|training",
    re.IGNORECASE,
)


def visible(text: str) -> str:
    r"""Neutralise terminal escapes, control and bidi characters; line ends and tabs stay.

    >>> visible("model\x1b[2J")
    'model�[2J'
    """
    return text.replace("\r\n", "\n").translate(_REPLACED)


def visible_data(data: Any) -> Any:
    """`visible` for all texts in lists and mappings, such as the specification of a chart."""
    if isinstance(data, str):
        return visible(data)
    if isinstance(data, Mapping):
        return {key: visible_data(value) for key, value in data.items()}
    if isinstance(data, Sequence):
        return [visible_data(value) for value in data]
    return data


def visible_json(text: str) -> str:
    """JSON with the same characters as escapes: the same data, and no terminal obeys it."""
    return text.translate(_ESCAPED)


def one_line(text: str) -> str:
    r"""A name in a message: characters that would break the line, or hide, are escaped.

    >>> print(one_line("two\nlines"))
    two\nlines
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shown(text: str) -> str:
    """A cell in a message: quoted, on one line, not too long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def nearest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The most similar of some names, whatever the case."""
    folded = {other.casefold(): other for other in names}
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else None


def listed(names: Iterable[str], limit: int = 12) -> str:
    """Names for a message, the first ones if there are many."""
    every = [name if 0 < len(name) <= _LONGEST else f"{name[:_LONGEST]}…" if name else "(no name)" for name in names]
    more = f" and {len(every) - limit} more" if len(every) > limit else ""
    return one_line(", ".join(every[:limit]) + more)


def said_once(notes: Iterable[str]) -> tuple[str, ...]:
    """Merge the notes of all tables: what several tables say is said once.

    >>> said_once(["a.csv: columns not used: x", "b.csv: columns not used: x"])
    ('a.csv, b.csv: columns not used: x',)
    """
    said: dict[str, list[str]] = {}
    for note in notes:
        label, colon, rest = note.partition(": ")
        labels = said.setdefault(rest if colon else note, [])
        labels += [label] if colon and label not in labels else []
    return tuple(f"{listed(labels, 3)}: {rest}" if labels else rest for rest, labels in said.items())


def file_name(text: str) -> str:
    """A text as part of a file's name: ASCII, lower case, no spaces."""
    return re.sub(r"[^\w.-]+", "-", text, flags=re.ASCII).strip("-.").lower()[:60] or "result"


def argument(of: str = "", /, **given: object) -> str:
    """Arguments in a message, as Python writes them; the command line shows options instead (`assay.cli.arguments`).

    >>> argument(columns={"score": "acc"})
    "`columns={'score': 'acc'}`"
    >>> argument("Selection", task="mmlu", newest=True)
    "`Selection(task='mmlu', newest=True)`"
    """
    written = ", ".join(f"{name}={value!r}" for name, value in given.items()).replace("`", r"\x60")
    return f"`{of}({written})`" if of else f"`{written}`"


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
    """The paths without the end that they share."""
    ends = {path.parts[-1] for path in paths}
    if len(ends) == 1 and all(path.parent.parts for path in paths):
        return _whole([path.parent for path in paths])
    return [path.as_posix() for path in paths]


#: Characters of a name in a table or a chart; a longer one is cut to what differs.
_LONG, _LONGER = 40, 60
_PATH = re.compile(r"[~.]{0,2}/|[A-Za-z]:\\\\")


def short_names(names: Sequence[str]) -> list[str]:
    """Names of systems without what they all share, if any is a path or long; never two the same where they differed.

    >>> short_names(["/data/runs/llama/checkpoint-500", "/data/runs/llama/checkpoint-9000"])
    ['checkpoint-500', 'checkpoint-9000']
    >>> task = "tool-calling-{}-0.0_range_0--1_user-gemini-2.0-flash-llm"
    >>> short_names([task.format("gpt-4.1"), task.format("o3-mini")])
    ['gpt-4.1', 'o3-mini']
    >>> short_names(["meta-llama/Llama-3-8B", "gpt-4.1"])
    ['meta-llama/Llama-3-8B', 'gpt-4.1']
    """
    found = list(names)
    for signs in ("/", "_ -"):
        if any(len(name) > _LONG or _PATH.match(name) for name in found):
            found = _unless_equal(found, _what_differs(found, signs))
    return _unless_equal(found, [_middle_cut(name) for name in found])


def _unless_equal(names: list[str], shorter: list[str]) -> list[str]:
    return shorter if len(set(shorter)) == len(set(names)) and all(shorter) else names


def _middle_cut(name: str) -> str:
    half = _LONGER // 2 - 1
    return name if len(name) <= _LONGER else f"{name[:half]}…{name[-half:]}"


def _what_differs(names: Sequence[str], signs: str) -> list[str]:
    """The first stretch of parts that not all names have, or as many as it takes to tell all apart."""
    parts = [re.findall(f"[^{signs}]+|[{signs}]+", name) for name in names]
    if len(names) == 1:
        return [[part for part in parts[0] if part[0] not in signs][-1]] if signs == "/" else list(names)
    shared = parts[0]
    for other in parts[1:]:
        blocks = SequenceMatcher(None, shared, other, autojunk=False).get_matching_blocks()
        shared = [part for block in blocks for part in shared[block.a : block.a + block.size]]
    stretches = [_stretches(own, shared, signs) for own in parts]
    for count in range(1, max(map(len, stretches)) + 1):
        found = ["…".join(some[:count]) for some in stretches]
        if len(set(found)) == len(set(names)):
            return found
    return list(names)


def _stretches(parts: Sequence[str], shared: Sequence[str], signs: str) -> list[str]:
    """What stands between the parts that are shared, without signs at its ends."""
    found, left = [""], list(shared)
    for part in parts:
        if left and part == left[0]:
            left.pop(0)
            found += [""] if part[0] not in signs else []
            found[-1] += part if part[0] in signs and found[-1] else ""
        else:
            found[-1] += part
    return [plain for stretch in found if (plain := stretch.strip(signs))]
