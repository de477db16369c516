"""Run the examples of the documentation, and write down what they really print.

    python -m tools.docs_outputs            rewrite README.md and docs/**/*.md with the real outputs
    python -m tools.docs_outputs PAGE…      rewrite these pages only
    python -m tools.docs_outputs --check    only say which differ

In the same run the tables of docs/certificate-fields.md are made from the schema (`tools.certificate_fields`), and
those of docs/requirements.md, docs/claims.md and docs/record.md from theirs (`tools.requirements`, `tools.claims`,
`tools.stored_runs`).

In a ```console block a line that starts with "$ " is a shell command (continued by "> " lines) and the lines up to
the next command are what it prints. A line that is only "..." stands for any lines. Blocks of a page share one new,
empty folder. A command must succeed; one that is meant to fail ends in "; echo $?". A ```python block with ">>>" is
a doctest. A page that names s3://evals/… has a server with that bucket, new and empty.
"""

import doctest
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs as a file, too

from tools import certificate_fields, claims, requirements, stored_runs
from tools.s3_server import s3_server

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"^(?P<open>(?P<indent> *)```(?P<kind>console|python)[^\n]*\n)(?P<body>.*?)(?=^(?P=indent)```$)",
    re.MULTILINE | re.DOTALL,
)
ANYTHING = "..."
SECONDS = 120
BUCKET = "evals"


class ExampleError(Exception):
    """An example that failed, so that its output is not worth writing down."""


@dataclass(frozen=True)
class Command:
    """One command of a console block and what the page says it prints."""

    text: str
    expected: str


def pages(root: Path = ROOT) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def rewritten(text: str, first: Path | None = None) -> str:
    """The text of a page with the outputs of its examples as they are now, where ``first`` comes first in PATH."""
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, store_of(text):

        def block(match: re.Match[str]) -> str:
            body = re.sub(f"^{match['indent']}", "", match["body"], flags=re.MULTILINE)
            if match["kind"] == "console":
                real = console(body, Path(folder), first)
            else:
                real = python(body, Path(folder), names)
            return match["open"] + re.sub(r"^(?=.)", match["indent"], real, flags=re.MULTILINE)

        return BLOCK.sub(block, text)


@contextmanager
def store_of(text: str) -> Iterator[None]:
    """A server for a page with addresses in the bucket ``evals``."""
    if f"s3://{BUCKET}/" not in text:
        yield
        return
    before = dict(os.environ)
    with s3_server(BUCKET) as server:
        os.environ.update(server.environment)
        try:
            yield
        finally:
            for name in server.environment:
                os.environ.pop(name)
            os.environ.update(before)


def console(body: str, folder: Path, first: Path | None = None) -> str:
    """A console block with real outputs. What already matches, wildcards included, stays as it is."""
    lines: list[str] = []
    for command in commands(body):
        output = printed(command.text, folder, first)
        lines += [command.text, command.expected if matches(command.expected, output) else output]
    return "".join(f"{line}\n" for line in lines if line)


def commands(body: str) -> Iterator[Command]:
    parts = re.split(r"^(?=\$ )", body, flags=re.MULTILINE)
    if parts[0].strip():
        raise ExampleError(f"a console block must start with a command, but got {parts[0].splitlines()[0]!r}")
    for part in parts[1:]:
        lines = part.splitlines()
        count = 1
        while count < len(lines) and lines[count - 1].endswith("\\") and lines[count].startswith("> "):
            count += 1
        yield Command("\n".join(lines[:count]), "\n".join(lines[count:]).rstrip())


def printed(command: str, folder: Path, first: Path | None = None) -> str:
    """What a command prints on both streams, without spaces at the ends of lines."""
    script = "\n".join(line[2:] for line in command.splitlines())
    done = subprocess.run(
        script,
        shell=True,
        cwd=folder,
        env=environment(first),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    if done.returncode:
        raise ExampleError(f"{command}\nended with exit code {done.returncode}:\n{done.stdout}")
    if "Traceback (most recent call last)" in done.stdout:
        raise ExampleError(f"{command}\nprinted a traceback:\n{done.stdout}")
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).rstrip()


def environment(first: Path | None = None) -> dict[str, str]:
    """The commands of this environment first, and a terminal that is the same everywhere."""
    places = [*([first] if first else []), Path(sys.executable).parent]
    path = os.pathsep.join([*map(str, places), os.environ["PATH"]])
    fixed = {"PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8"}
    quiet = {"GITHUB_STEP_SUMMARY": ""}  # the job that checks the pages shall not show what they certify
    return {**os.environ, **fixed, **quiet}


def matches(expected: str, output: str) -> bool:
    """Whether an output is what the page says, where a line "..." stands for any lines."""
    any_lines = r"(?:.*\n)*"
    lines = rounded(expected).splitlines()
    pattern = "".join(any_lines if line == ANYTHING else re.escape(line) + "\n" for line in lines)
    return re.fullmatch(pattern, rounded(output) + "\n" if output else "") is not None


def rounded(text: str) -> str:
    """Numbers that are printed in full are compared to 7 digits: the last ones depend on the processor's arithmetic."""
    return re.sub(r"\d+\.\d{9,}(e[+-]\d+)?", lambda number: f"{float(number[0]):.7g}", text)


class Recorder(doctest.DocTestRunner):
    """A doctest runner that writes down what it got instead of printing a report."""

    def __init__(self) -> None:
        super().__init__(verbose=False, optionflags=doctest.ELLIPSIS)
        self.got: list[tuple[doctest.Example, str]] = []

    def report_failure(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        self.got.append((example, got))

    def report_unexpected_exception(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        raise ExampleError(f">>> {example.source}raised {exc_info[0].__name__}: {exc_info[1]}") from exc_info[1]


def python(body: str, folder: Path, names: dict[str, Any]) -> str:
    """A Python block with real outputs; ``names`` is what earlier blocks of the page have defined."""
    test = doctest.DocTestParser().get_doctest(body, names, "example", None, 0)
    test.globs = names  # the parser makes a copy, but the blocks of a page go on from each other
    recorder = Recorder()
    with chdir(folder):
        recorder.run(test, clear_globs=False)
    lines = body.splitlines(keepends=True)
    for example, got in reversed(recorder.got):
        first = example.lineno + example.source.count("\n")
        lines[first : first + example.want.count("\n")] = [re.sub(r"^$\n", "<BLANKLINE>\n", got, flags=re.MULTILINE)]
    return "".join(lines)


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    named = [Path(name).resolve() for name in arguments if name != "--check"]
    made = (certificate_fields.refresh, requirements.refresh, claims.refresh, stored_runs.refresh)
    left = max(part(check=check) for part in made)
    return max([left, *(refresh(page, check=check) for page in named or pages())])


def refresh(page: Path, *, check: bool) -> int:
    """Rewrite a page, or only say that it differs; 1 if something is left to do."""
    old, name = page.read_text("utf-8"), page.relative_to(ROOT)
    try:
        new = rewritten(old)
    except ExampleError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    if new == old:
        return 0
    print(f"{name} {'differs: run make docs-outputs' if check else 'rewritten'}")
    if not check:
        page.write_text(new, "utf-8")
    return int(check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
