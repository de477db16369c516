"""Make the example files that ship in ``assay.examples``: real losses and scores of small language models.

    python -m tools.make_examples [FOLDER]

An interpolated Kneser-Ney 4-gram model over byte-pair tokens is trained on a part of Python's standard library and
scored on modules it has not seen: as it is, with its weights rounded to 8 and to 3 bits, and beside 3-gram and 2-gram
models of the same text. Only the repeated runs draw at random, each answer from a number that its model, run and item
alone decide. Other versions of Python have other sources and so give other numbers: the digest below says which text
made the shipped files.
"""

import ast
import csv
import hashlib
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import exp, log
from pathlib import Path

from tools.ngram import BytePairs, Model, distribution, quantized, train

PYTHON = "3.11.7"
TEXT_DIGEST = "ecc130d0de03e07106f2589e9b0c851f0daba59b0977d0c265c0cb1d05e7e593"

TRAINING = """
    asyncio collections concurrent ctypes email html http importlib json logging multiprocessing re
    sqlite3 unittest urllib wsgiref xml xmlrpc zoneinfo _pydecimal _pyio aifc argparse ast asyncore cgi
    codecs configparser dataclasses datetime difflib doctest enum functools inspect ipaddress locale
    mailbox nntplib ntpath optparse os pathlib pdb pickle pickletools platform pydoc smtplib socket ssl
    statistics subprocess tarfile threading traceback turtle typing zipfile
""".split()  # noqa: SIM905 - a list of words

HELD_OUT = """
    _strptime base64 bdb bz2 calendar cgitb cmd code compileall contextlib copy copyreg csv dis
    fileinput filecmp fractions ftplib gettext getopt glob graphlib gzip hashlib heapq hmac imaplib
    linecache lzma mailcap mimetypes modulefinder netrc numbers pipes pkgutil plistlib poplib posixpath
    pprint profile pstats pty pyclbr queue quopri random reprlib rlcompleter runpy sched selectors
    shelve shlex shutil socketserver string sunau symtable sysconfig tabnanny telnetlib tempfile
    textwrap timeit tokenize trace tracemalloc types uu uuid warnings wave weakref webbrowser zipapp
    zipimport
""".split()  # noqa: SIM905 - a list of words

WINDOWS = 180  # a split: 180 preview and 180 final windows
WINDOW_TOKENS = 192  # longer functions are cut here; shorter ones end where they end
ITEMS = 500
PROMPT_TOKENS, CHOICE_TOKENS, CHOICES = 12, 4, 4
RUNS, RUN_ITEMS = 5, 100  # repeated runs take every fifth item, or the file would be large


@dataclass(frozen=True)
class Window:
    """One function of a held-out module. The first token is context only: it is never predicted."""

    name: str
    document: str
    split: str
    tokens: list[int]


@dataclass(frozen=True)
class Item:
    """A multiple-choice question: which of four continuations follows? The first is the true one."""

    name: str
    cluster: str
    prompt: list[int]
    choices: list[list[int]]


def main(folder: Path) -> None:
    texts = {name: module_text(name) for name in (*TRAINING, *HELD_OUT)}
    check_text(texts)
    pairs = BytePairs.learn([texts[name] for name in TRAINING], merges=768)
    corpus = [pairs.encode(texts[name]) for name in TRAINING]
    base, trigram, bigram = (train(corpus, order, pairs.size) for order in (4, 3, 2))
    int8, int3 = quantized(base, 8), quantized(base, 3)
    windows, items = list(held_out_windows(texts, pairs)), list(held_out_items(texts, pairs))
    for name, model in {"base": base, "int8": int8, "int3": int3, "trigram": trigram}.items():
        write(folder / f"losses-{name}.csv", loss_rows(model, windows, pairs))
    for name, model in {"base": base, "int3": int3, "trigram": trigram, "bigram": bigram}.items():
        write(folder / f"scores-{name}.csv", score_rows(model, items))
    write(folder / "runs-sampled.csv", sampled_rows({"base": base, "int3": int3, "trigram": trigram}, items))


def module_text(name: str) -> str:
    """The source of a module, or of all modules of a package in the order of their names."""
    library = Path(sysconfig.get_paths()["stdlib"])
    files = sorted((library / name).rglob("*.py"), key=Path.as_posix) or [library / f"{name}.py"]
    return "\n".join(file.read_text("utf-8") for file in files if "test" not in file.relative_to(library).parts)


def check_text(texts: dict[str, str]) -> None:
    digest = hashlib.sha256("\0".join(texts[name] for name in sorted(texts)).encode()).hexdigest()
    if digest != TEXT_DIGEST:
        print(
            f"This library is not that of Python {PYTHON}, so the files will differ (sha256 {digest}).", file=sys.stderr
        )


@cache
def functions(text: str) -> list[str]:
    """The source of every function and method that is not inside another function, in the order of the text."""
    found: list[str] = []
    stack: list[ast.AST] = [ast.parse(text)]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(ast.get_source_segment(text, node) or "")
        else:
            stack.extend(reversed(list(ast.iter_child_nodes(node))))
    return found


def held_out_windows(texts: dict[str, str], pairs: BytePairs) -> Iterator[Window]:
    """180 windows from every second held-out module for the preview, 180 from the others for the final split."""
    for split, documents in (("preview", HELD_OUT[::2]), ("final", HELD_OUT[1::2])):
        for document, numbers in spread(documents, texts).items():
            for number in numbers:
                tokens = pairs.encode(functions(texts[document])[number])[:WINDOW_TOKENS]
                yield Window(f"{document}:{number:03d}", document, split, tokens)


def spread(documents: Iterable[str], texts: dict[str, str]) -> dict[str, list[int]]:
    """Which functions of which module: one of each module in turn until there are 180, evenly over each module."""
    available = {document: len(functions(texts[document])) for document in documents}
    taken = dict.fromkeys(available, 0)
    while sum(taken.values()) < WINDOWS:
        for document, count in available.items():
            if taken[document] < count and sum(taken.values()) < WINDOWS:
                taken[document] += 1
    return {document: [i * available[document] // n for i in range(n)] for document, n in taken.items()}


def held_out_items(texts: dict[str, str], pairs: BytePairs) -> Iterator[Item]:
    """500 places spread evenly over the held-out modules, one of each module in turn."""
    turns = -(-ITEMS // len(HELD_OUT))
    encoded = {name: pairs.encode(texts[name]) for name in HELD_OUT}
    for number in range(ITEMS):
        name, turn = HELD_OUT[number % len(HELD_OUT)], number // len(HELD_OUT)
        usable = len(encoded[name]) - PROMPT_TOKENS - CHOICE_TOKENS
        yield item_at(name, encoded[name], usable * (2 * turn + 1) // (2 * turns))


def item_at(name: str, tokens: list[int], start: int) -> Item:
    """The false continuations stand a quarter, a half and three quarters of the module further on."""
    end, last = start + PROMPT_TOKENS, len(tokens) - CHOICE_TOKENS
    places = [(end + quarter * len(tokens) // CHOICES) % last for quarter in range(CHOICES)]
    return Item(
        f"{name}:{start:05d}", name, tokens[start:end], [tokens[place : place + CHOICE_TOKENS] for place in places]
    )


def loss_rows(model: Model, windows: list[Window], pairs: BytePairs) -> Iterator[dict[str, object]]:
    for window in windows:
        predicted = b"".join(pairs.parts[token] for token in window.tokens[1:])
        yield {
            "window": window.name,
            "document": window.document,
            "split": window.split,
            "tokens": len(window.tokens) - 1,
            "bytes": len(predicted),
            "chars": len(predicted.decode("utf-8", errors="ignore")),
            "loss": f"{loss(model, window.tokens, 1) / (len(window.tokens) - 1):.6f}",
        }


def score_rows(model: Model, items: list[Item]) -> Iterator[dict[str, object]]:
    for item in items:
        losses = [loss(model, item.prompt + choice, len(item.prompt)) for choice in item.choices]
        yield {"item": item.name, "cluster": item.cluster, "score": int(losses[0] < min(losses[1:]))}


def sampled_rows(models: dict[str, Model], items: list[Item]) -> Iterator[dict[str, object]]:
    """Runs at temperature 1: a model picks each continuation as often as it gives it probability among the four."""
    for name, model in models.items():
        for item in items[:: len(items) // RUN_ITEMS]:
            losses = [loss(model, item.prompt + choice, len(item.prompt)) for choice in item.choices]
            for run in range(1, RUNS + 1):
                picked = sampled(losses, drawn(f"{name}/{run}/{item.name}"))
                yield {"model": name, "run": run, "item": item.name, "score": int(picked == 0)}


def sampled(losses: list[float], number: float) -> int:
    """Which of several continuations a number between 0 and 1 picks, each as likely as exp(-loss)."""
    shares = [exp(min(losses) - loss) for loss in losses]
    return sum(number * sum(shares) >= share for share in accumulate(shares))


def drawn(name: str) -> float:
    """A number between 0 and 1 that depends on the name only."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") / 2**64


def loss(model: Model, tokens: list[int], first: int) -> float:
    """The summed log-loss in nats of ``tokens[first:]``, each predicted from the tokens before it."""
    return -sum(log(probability(model, tokens, position)) for position in range(first, len(tokens)))


def probability(model: Model, tokens: list[int], position: int) -> float:
    context = tuple(tokens[max(0, position - model.order + 1) : position])
    return float(distribution(model, context)[tokens[position]])


def write(path: Path, rows: Iterable[dict[str, object]]) -> None:
    first, *others = rows
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(first), lineterminator="\n")
        writer.writeheader()
        writer.writerows([first, *others])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "src/assay/examples"))
