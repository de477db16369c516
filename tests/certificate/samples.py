"""Certificates of several kinds, altered certificates and evidence, and the command line without a new process."""

import csv
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import numpy as np
import pytest

from assay import examples
from assay.certificate import certify
from assay.certificate.signing import canonical_bytes, digest_of
from assay.certificate.verify import verify
from assay.cli.main import main
from assay.data import Table
from assay.data.metrics import Kind
from assay.data.reading import read_parquet
from assay.design import Policy
from assay.errors import AssayError
from tests.certificate.alterations import Alteration
from tests.data.readers.harness.logs import LARGE, LM_EVAL, SMALL

Document = dict[str, Any]
Columns = dict[str, list[Any]]

_TEXTS = {"window", "document", "split", "item", "cluster", "model", "run", "task", "passage", "lower_is_better"}


def example(name: str) -> Columns:
    """An example file as columns, read without any code of ours."""
    with examples.path(name).open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    return {n: [r[n] if n in _TEXTS else float(r[n]) for r in records] for n in records[0]}


def losses(n: int, seed: int = 1, *, shift: float = 0.0, spread: float = 0.01) -> Columns:
    """n preview and n final windows; ``seed`` is of what a model adds to losses that all models share."""
    shared, own = np.random.default_rng(0), np.random.default_rng(seed)
    values = 3 + shared.random(2 * n) + shift + spread * own.standard_normal(2 * n)
    return {
        "window": [f"w{i:04d}" for i in range(2 * n)],
        "split": ["preview"] * n + ["final"] * n,
        "tokens": [100.0 + 30 * (i % 7) for i in range(2 * n)],
        "loss": values.tolist(),
    }


def scores(right: int, n: int) -> Columns:
    """n items of which the first are right."""
    return {"item": [f"q{i:04d}" for i in range(n)], "score": [float(i < right) for i in range(n)]}


def without(columns: Columns, *rows: int) -> Columns:
    return {name: [v for i, v in enumerate(values) if i not in rows] for name, values in columns.items()}


def _losses(path: Path) -> None:
    certify(examples.path("losses-base.csv"), examples.path("losses-int8.csv"), path, policy=Policy(profile="ci"))


def _clusters(path: Path) -> None:
    certify(examples.path("losses-base.csv"), examples.path("losses-int3.csv"), path, cluster="document")


def _degenerate(path: Path) -> None:
    base = example("losses-base.csv")
    certify(base, base | {"loss": [loss + 0.01 for loss in base["loss"]]}, path)


def _scores(path: Path) -> None:
    certify(examples.path("scores-base.csv"), examples.path("scores-int3.csv"), path)


def _plain_scores(path: Path) -> None:
    certify(scores(180, 200), scores(80, 200), path)


def _even(path: Path) -> None:
    """As much is gained as lost, so that no number tells which scores are better."""
    after = scores(180, 200)
    after["score"] = [1 - score if i in (0, 1, 198, 199) else score for i, score in enumerate(after["score"])]
    certify(scores(180, 200), after, path)


def _overrides(path: Path) -> None:
    policy = Policy(max_ratio=1.02, min_windows=50, replicates=400, seed=7, level=0.9, note="a small pilot, #12")
    certify(losses(120), losses(120, 2), path, policy=policy, timestamp=True)


def _broken(path: Path) -> None:
    spans: Columns = {"start": [90.0 * i for i in range(60)], "stop": [90.0 * i + 100 for i in range(60)]}
    subject = losses(30, 2, shift=0.1, spread=0.3) | spans
    certify(without(losses(30) | spans, 0, 59), without(subject, 1), path)


def _harness(path: Path) -> None:
    policy = Policy(task="tiny_sk*", metric="acc", filter="none", min_windows=8, max_drop=0.5, note="a tiny task")
    certify(LM_EVAL / SMALL, LM_EVAL / LARGE, path, policy=policy)


def _turned(path: Path) -> None:
    policy = Policy(lower_is_better=True, task="gsm8k", metric="exact_match", level=0.8, note="trust me")
    certify(scores(180, 200), scores(140, 200), path, policy=policy)


def _as_published(path: Path) -> None:
    policy = Policy(method="bca-plain", scheme="tokens", replicates=400, note="the recipe of the paper")
    certify(losses(120), losses(120, 2), path, policy=policy)


def _per_byte(path: Path) -> None:
    """Models with other tokenizers: other windows of the same documents, and so many bytes of each."""
    shared: Columns = {
        "document": [f"d{i // 2:03d}" for i in range(240)],
        "bytes": [400.0 + i % 90 for i in range(240)],
    }
    subject = losses(120, 2) | shared
    subject |= {"window": [f"v{i}" for i in range(240)], "tokens": [90.0 + 20 * (i % 7) for i in range(240)]}
    policy = Policy(min_windows=50, max_drop=0.1, note="short documents")
    certify(losses(120) | shared, subject, path, per="byte", policy=policy)


KINDS: dict[str, Callable[[Path], None]] = {
    "losses": _losses,
    "clusters": _clusters,
    "degenerate": _degenerate,
    "scores": _scores,
    "plain scores": _plain_scores,
    "even": _even,
    "overrides": _overrides,
    "as published": _as_published,
    "broken rules": _broken,
    "per byte": _per_byte,
    "harness": _harness,
    "turned round": _turned,
}


def issue(kind: str, folder: Path) -> Path:
    """A certificate of a kind, with its evidence beside it."""
    path = folder / "cert.json"
    KINDS[kind](path)
    return path


def load(path: Path) -> Document:
    found: Document = json.loads(path.read_text(encoding="utf-8"))
    return found


def evidence_of(path: Path) -> Path:
    return path.with_name(path.stem + ".evidence.parquet")


def save(path: Path, document: Mapping[str, Any], *, sealed: bool = True) -> Path:
    """Write a document as `certify` would; ``sealed``: by a forger who computes the digest again."""
    content = dict(document)
    if sealed:
        content["digest"] = digest_of(content)
    path.write_bytes(canonical_bytes(content))
    return path


def exit_code(path: Path, evidence: Path | None = None) -> int:
    """The exit code of `assay verify`."""
    try:
        return verify(path, evidence=evidence).exit_code
    except AssayError as error:
        return error.exit_code


def evidence_rows(path: Path) -> Columns:
    """The rows of an evidence file, read without any code of ours."""
    found = duckdb.execute("SELECT * FROM read_parquet($1)", [str(path)]).fetchnumpy()
    return {name: values.tolist() for name, values in found.items()}


def write_evidence(path: Path, rows: Columns) -> Path:
    """Write rows as Parquet, without any code of ours."""
    arrays = {n: np.array(values, dtype=object if n in _TEXTS else np.float64) for n, values in rows.items()}
    with duckdb.connect() as database:
        database.register("rows", arrays)
        database.execute(f"COPY rows TO '{path}' (FORMAT parquet)")
    return path


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    def assert_refused(self, code: int, *parts: str) -> None:
        """One line on stderr with all the parts, nothing on stdout."""
        assert (self.code, self.out) == (code, ""), self
        assert self.err.count("\n") == 1, self.err
        assert [part for part in parts if part not in self.err] == [], self.err


def assay(*arguments: str | Path) -> Ran:
    """Run the command line in this process."""
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["assay", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    code = ended.value.code
    return Ran(code if isinstance(code, int) else 0, out.getvalue(), err.getvalue())


def follows_schema(document: Mapping[str, Any], record: type[Any]) -> bool:
    """Whether it is a certificate at all: what is not is refused whatever its digest is."""
    try:
        msgspec.convert(document, record)
    except msgspec.ValidationError:
        return False
    return True


def caught(alteration: Alteration, folder: Path, evidence: Path, *, sealed: bool) -> bool:
    """Whether `verify` finds it, or refuses the file."""
    forged = save(folder / "forged.json", alteration.document, sealed=sealed)
    return exit_code(forged, evidence) in (3, 4)


def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence that thousands of forgeries share is read once."""
    tables: dict[Any, Table] = {}

    def table(proof: Path, *, kind: Kind, cluster: str | None) -> Table:
        if (proof, kind, cluster) not in tables:
            tables[proof, kind, cluster] = read_parquet(proof, kind=kind, cluster=cluster)
        return tables[proof, kind, cluster]

    monkeypatch.setattr("assay.certificate.evidence.read_parquet", table)
