"""Names and texts from files and servers, as messages and pages show them.

Control and bidi characters, which would steer a terminal or a page, are replaced. Everything printed goes through one
of these: `one_line`, `shown` and `listed` inside messages, `visible` for what verbs print and for pages, `visible_json`
for JSON, in which every character must survive. `names_of` makes names of paths.
"""

import os
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
    r"loss|results?|state|output|progress)|all_results|events|train|training|\.deepeval(-cache)?|"
    r"\.latest_(test_run|run_full)|eval_results_table",
    re.IGNORECASE,
)
_CHECKPOINT = re.compile(r"checkpoint[-_]?\d+", re.IGNORECASE)
#: Variables of the environment whose values are nobody's business.
_SECRET = re.compile(r"SECRET|TOKEN|PASSWORD|ACCESS_KEY|CREDENTIAL", re.IGNORECASE)
_SHORTEST_SECRET = 6  # characters that can be told from a word
#: How the path of a local copy begins, of a file in a store.
_COPIES: list[re.Pattern[str]] = []


def plural(noun: str) -> str:
    """Of a word, or of the name of a column that is used as one; what already is one stays.

    >>> [plural(noun) for noun in ("task", "category", "survey", "class", "subjects", "分野")]
    ['tasks', 'categories', 'surveys', 'classes', 'subjects', '分野']
    """
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    if re.search(r"(ss|sh|ch|x|z)$", noun):
        return f"{noun}es"
    return f"{noun}s" if re.search(r"[a-rt-zA-RT-Z]$", noun) else noun


def visible(text: str) -> str:
    r"""Neutralise terminal escapes, control and bidi characters; line ends and tabs stay.

    >>> visible("model\x1b[2J")
    'model�[2J'
    """
    return with_addresses(text).replace("\r\n", "\n").translate(_REPLACED)


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
    return with_addresses(text).translate(_ESCAPED)


def copies_are_below(root: str) -> None:
    """Show files below this folder by the addresses that they are copies of: ROOT/s3:/bucket/key is s3://bucket/key."""
    _COPIES[:] = [re.compile(rf"{re.escape(root)}/([a-z][a-z0-9+.-]+):/")]


def with_addresses(text: str) -> str:
    """The text with addresses in stores in place of the local copies that were read or written."""
    for copies in _COPIES:
        text = copies.sub(r"\1://", text)
    return text


def masked(text: str) -> str:
    """The text without what the environment calls secret, and without users and queries in addresses.

    >>> masked("s3://key:secret@bucket/a.csv, https://host/a.csv?token=1")
    's3://***@bucket/a.csv, https://host/a.csv?***'
    """
    secrets = {value for name, value in os.environ.items() if _SECRET.search(name) and len(value) >= _SHORTEST_SECRET}
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return re.sub(r"(\w://[^\s?\"']*\?)[^\s\"']*=[^\s\"']*", r"\1***", re.sub(r"://[^/\s@]*@", "://***@", text))


def one_line(text: str) -> str:
    r"""A name in a message: characters that would break the line, or hide, are escaped.

    >>> print(one_line("two\nlines"))
    two\nlines
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in with_addresses(text))


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
    >>> said_once([f"/{'folder/' * 9}a.csv: columns not used: x"])
    ('…/a.csv: columns not used: x',)
    """
    said: dict[str, list[str]] = {}
    for note in notes:
        label, colon, rest = note.partition(": ")
        labels = said.setdefault(rest if colon else note, [])
        labels += [label] if colon and label not in labels else []
    every = [label for labels in said.values() for label in labels]
    brief = dict(zip(every, _unless_equal(every, [_brief(label) for label in every]), strict=True))
    shown = {rest: [brief[label] for label in labels] for rest, labels in said.items()}
    return tuple(f"{_merged(labels)}: {rest}" if labels else rest for rest, labels in shown.items())


def _merged(labels: Sequence[str]) -> str:
    return one_line(labels[0]) if len(labels) == 1 and ", " in labels[0] else listed(labels, 3)


def _brief(label: str) -> str:
    """A file in a note: without its folders, where the path is long; with a space it may be words and not a path."""
    path = "/" in label and " " not in label
    return f"…/{_middle_cut(label.rpartition('/')[2])}" if path and len(label) > _LONGER else label


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
    own = path.stem.removesuffix(_STATE)
    parts = [own, *reversed(folders)]
    numbered = {own} if _CHECKPOINT.fullmatch(own) else set()  # a file of that name is one among several
    return [part for part in parts if part in numbered or not _GENERIC.fullmatch(part)] or parts[-1:]


def _whole(paths: Sequence[Path]) -> list[str]:
    """The paths without the end that they share."""
    ends = {path.parts[-1] for path in paths}
    if len(ends) == 1 and all(path.parent.parts for path in paths):
        return _whole([path.parent for path in paths])
    return [path.as_posix() for path in paths]


#: Characters of a name in a table or a chart; a longer one is cut to what differs.
_LONG, _LONGER = 40, 60
_PATH = re.compile(r"[~.]{0,2}/|[A-Za-z]:\\\\")
_LETTER = re.compile(r"[^\W\d_]")
#: A folder of the hub's cache, or what a harness makes of it as a name.
_CACHED = re.compile(r"models--(?P<owner>.+?)--(?P<model>.+?)(?:/|__)snapshots(?:/|__)[0-9a-f]{7,40}")


def short_names(names: Sequence[str]) -> list[str]:
    """Names of systems without what they all share, if any is a path or long; never two the same where they differed.

    >>> short_names(["/data/runs/llama/checkpoint-500", "/data/runs/llama/checkpoint-9000"])
    ['checkpoint-500', 'checkpoint-9000']
    >>> task = "tool-calling-{}-0.0_range_0--1_user-gemini-2.0-flash-llm"
    >>> short_names([task.format("gpt-4.1"), task.format("gpt-4.1-mini")])
    ['gpt-4.1', 'gpt-4.1-mini']
    >>> short_names(["~/hub/models--Qwen--Qwen2.5-7B/snapshots/989aa7980e4cf806"])
    ['Qwen/Qwen2.5-7B']
    >>> short_names(["meta-llama/Llama-3-8B", "gpt-4.1"])
    ['meta-llama/Llama-3-8B', 'gpt-4.1']
    """
    found = _unless_equal(list(names), [_of_the_hub(name) for name in names])
    for signs in ("/", "_ -"):
        if any(len(name) > _LONG or _PATH.match(name) for name in found):
            found = _unless_equal(found, _what_differs(found, signs))
    return _unless_equal(found, [_middle_cut(name) for name in found])


def _of_the_hub(name: str) -> str:
    """A model's own name, where a path leads to it in the cache of the hub."""
    found = _CACHED.search(name)
    return name if found is None else f"{found['owner']}/{found['model']}"


def _unless_equal(names: list[str], shorter: list[str]) -> list[str]:
    return shorter if len(set(shorter)) == len(set(names)) and all(shorter) else names


def _middle_cut(name: str) -> str:
    half = _LONGER // 2 - 1
    return name if len(name) <= _LONGER else f"{name[:half]}…{name[-half:]}"


def _what_differs(names: Sequence[str], signs: str) -> list[str]:
    """The first stretch of parts that not all names have, and as many more as it takes to tell those apart."""
    parts = [re.findall(f"[^{signs}]+|[{signs}]+", name) for name in names]
    if len(names) == 1:
        return [[part for part in parts[0] if part[0] not in signs][-1]] if signs == "/" else list(names)
    shared = parts[0]
    for other in parts[1:]:
        blocks = SequenceMatcher(None, shared, other, autojunk=False).get_matching_blocks()
        shared = [part for block in blocks for part in shared[block.a : block.a + block.size]]
    gaps = [_gaps(own, shared, signs) for own in parts]
    telling = [i for i in range(len(gaps[0])) if len({own[i] for own in gaps}) > 1]
    stretches = [[own[i] for i in telling] for own in gaps]
    if telling and not all(_LETTER.search(some[0]) for some in stretches):  # nothing, or a bare number
        words = _words_before([part for part in shared if part[0] not in signs][: telling[0]])
        sign = signs[-1]
        stretches = [[sign.join(filter(None, (*words, first))), *rest] for first, *rest in stretches]
    return _told_apart([list(filter(None, some)) for some in stretches], names)


def _words_before(words: Sequence[str]) -> Sequence[str]:
    """The last of some words, and those before it as long as none has a letter."""
    last = next((i for i in reversed(range(len(words))) if _LETTER.search(words[i])), 0)
    return words[last:]


def _told_apart(stretches: Sequence[Sequence[str]], names: Sequence[str]) -> list[str]:
    """Each with as few of its stretches as no other one has; the names where that is not enough."""
    found = [some[0] if some else "" for some in stretches]
    for count in range(2, max(map(len, stretches), default=0) + 1):
        twice = {name for name in found if found.count(name) > 1}
        longer = ["…".join(some[:count]) for some in stretches]
        found = [more if name in twice else name for name, more in zip(found, longer, strict=True)]
    return found if len(set(found)) == len(set(names)) else list(names)


def _gaps(parts: Sequence[str], shared: Sequence[str], signs: str) -> list[str]:
    """What stands before, between and after the words that are shared, without signs at its ends; "" for nothing."""
    found, left = [""], list(shared)
    for part in parts:
        if left and part == left[0]:
            left.pop(0)
            found += [""] if part[0] not in signs else []
            found[-1] += part if part[0] in signs and found[-1] else ""
        else:
            found[-1] += part
    return [stretch.strip(signs) for stretch in found]
