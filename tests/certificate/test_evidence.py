"""`verify` against every kind of alteration of the evidence, first by a tamperer, then by a forger who seals again."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.certificate import certify
from assay.certificate.verify import verify
from tests.certificate.samples import (
    Columns,
    Document,
    evidence_of,
    evidence_rows,
    example,
    exit_code,
    issue,
    load,
    losses,
    save,
    write_evidence,
)
from tests.data.files import write_rows

Alter = Callable[[Columns], Columns]


def at(rows: Columns, model: str, split: str, place: int = 3) -> int:
    """The row of a model and split."""
    splits = rows.get("split", ["final"] * len(rows["model"]))
    both = list(zip(rows["model"], splits, strict=True))
    return [i for i, found in enumerate(both) if found == (model, split)][place]


def cell(column: str, change: Callable[[object], object], model: str = "subject", split: str = "final") -> Alter:
    """Change one cell."""

    def alter(rows: Columns) -> Columns:
        row = at(rows, model, split)
        return rows | {column: [change(v) if i == row else v for i, v in enumerate(rows[column])]}

    return alter


def both(column: str, change: Callable[[object], object], split: str = "final") -> Alter:
    """Change the cells of a window in both models, so that it still pairs."""

    def alter(rows: Columns) -> Columns:
        return cell(column, change, "baseline", split)(cell(column, change, "subject", split)(rows))

    return alter


def taken(order: Callable[[Columns], list[int]]) -> Alter:
    """Rows in another number or order."""

    def alter(rows: Columns) -> Columns:
        chosen = order(rows)
        return {name: [values[i] for i in chosen] for name, values in rows.items()}

    return alter


def dropped(*models: str) -> Alter:
    def kept(rows: Columns) -> list[int]:
        gone = {at(rows, model, "final") for model in models}
        return [i for i in range(len(rows["model"])) if i not in gone]

    return taken(kept)


def doubled(rows: Columns) -> Columns:
    return taken(lambda r: [*range(len(r["model"])), at(r, "subject", "final")])(rows)


def added(rows: Columns) -> Columns:
    return cell("window", lambda _: "a new one")(
        taken(lambda r: [at(r, "subject", "final"), *range(len(r["model"]))])(rows)
    )


def swapped(rows: Columns) -> Columns:
    other = {"baseline": "subject", "subject": "baseline"}
    return rows | {"model": [other[model] for model in rows["model"]]}


def third_model(rows: Columns) -> Columns:
    more = taken(lambda r: [*range(len(r["model"])), 0])(rows)
    return more | {"model": [*more["model"][:-1], "another"]}


def nudged(value: object) -> object:
    assert isinstance(value, float)
    return value + 1e-6  # one unit in the last place that the input had


def one_more(value: object) -> object:
    assert isinstance(value, float)
    return value + 1


def renamed(value: object) -> object:
    return f"{value}x"


#: What changes a number, a count or the pairing: a new digest of the evidence does not help the forger.
CAUGHT: dict[str, Alter] = {
    "a loss of the subject": cell("loss", nudged),
    "a loss of the baseline": cell("loss", nudged, "baseline"),
    "a preview loss of the subject": cell("loss", lambda _: 3.0, split="preview"),
    "the tokens of one model": cell("tokens", one_more),
    "the tokens of both models": both("tokens", one_more),
    "the preview tokens of both models": both("tokens", one_more, "preview"),
    "the bytes of one model": cell("bytes", one_more),
    "the bytes of both models": both("bytes", one_more),
    "the characters of one model": cell("chars", one_more, "baseline"),
    "the characters of both models": both("chars", one_more),
    "an id of one model": cell("window", renamed),
    "an id of both models": both("window", renamed),
    "a preview id of one model": cell("window", renamed, split="preview"),
    "the split of one model": cell("split", lambda _: "preview"),
    "the split of both models": both("split", lambda _: "preview"),
    "an unknown split": cell("split", lambda _: "test"),
    "a row removed": dropped("subject"),
    "a pair removed": dropped("baseline", "subject"),
    "a row twice": doubled,
    "a row added": added,
    "the models swapped": swapped,
    "a third model": third_model,
    "an infinite loss": cell("loss", lambda _: float("inf")),
    "an enormous loss": cell("loss", lambda _: 1e200),
}

#: What no number of this certificate is computed from: only the digest of the evidence tells.
NOTHING_FOLLOWS: dict[str, Alter] = {
    "a preview loss of the baseline": cell("loss", nudged, "baseline", "preview"),
    "the document of both models, without clusters": both("document", renamed),
    "the preview bytes of both models": both("bytes", one_more, "preview"),
    "a preview id of both models": both("window", renamed, "preview"),
    "the rows in another order": taken(lambda rows: list(range(len(rows["model"])))[::-1]),
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return issue("losses", tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def clustered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return issue("clusters", tmp_path_factory.mktemp("clustered"))


def forged(certificate: Path, rows: Columns, folder: Path) -> tuple[Path, Path]:
    """The altered evidence, and a certificate that names its digest and its number of rows."""
    proof = write_evidence(folder / "altered.parquet", rows)
    return sealed(certificate, proof, len(rows["model"]), folder), proof


def sealed(certificate: Path, proof: Path, rows: int, folder: Path) -> Path:
    document: Document = load(certificate)
    digest = "sha256:" + hashlib.sha256(proof.read_bytes()).hexdigest()
    document["evidence"] |= {"sha256": digest, "rows": rows}
    return save(folder / "forged.json", document)


def test_rewritten_evidence_is_told_by_its_digest_alone(plain: Path, tmp_path: Path) -> None:
    rows = taken(lambda found: list(range(len(found["model"])))[::-1])(evidence_rows(evidence_of(plain)))
    proof = write_evidence(tmp_path / "rewritten", rows)
    assert [fault.field for fault in verify(plain, evidence=proof).faults] == ["evidence.sha256"]
    assert exit_code(sealed(plain, proof, 720, tmp_path), proof) == 0  # the same rows give the same numbers


def test_evidence_is_parquet_whatever_it_is_called_and_nothing_else_is_tried(plain: Path, tmp_path: Path) -> None:
    proof = write_rows(tmp_path / "rows.csv", evidence_rows(evidence_of(plain)))
    (fault,) = verify(sealed(plain, proof, 720, tmp_path), evidence=proof).faults
    assert fault.field == "evidence"
    assert "the Parquet file is truncated" in fault.found


@pytest.mark.parametrize("what", [*CAUGHT, *NOTHING_FOLLOWS])
def test_every_kind_of_altered_row_is_caught(what: str, plain: Path, tmp_path: Path) -> None:
    rows = (CAUGHT | NOTHING_FOLLOWS)[what](evidence_rows(evidence_of(plain)))
    certificate, proof = forged(plain, rows, tmp_path)
    assert exit_code(plain, proof) == 4
    assert exit_code(certificate, proof) == (4 if what in CAUGHT else 0)


def test_an_altered_cluster_is_caught(clustered: Path, tmp_path: Path) -> None:
    rows = evidence_rows(evidence_of(clustered))
    for alter in (cell("document", renamed), both("document", renamed), dropped("baseline")):
        certificate, proof = forged(clustered, alter(rows), tmp_path)
        assert (exit_code(clustered, proof), exit_code(certificate, proof)) == (4, 4)


def test_altered_token_spans_are_caught(tmp_path: Path) -> None:
    spans: Columns = {"start": [100.0 * i for i in range(40)], "stop": [100.0 * i + 100 for i in range(40)]}
    certify(losses(20) | spans, losses(20, 2) | spans, tmp_path / "spans.json")
    rows = evidence_rows(tmp_path / "spans.evidence.parquet")
    for alter in (
        cell("stop", one_more),
        both("stop", one_more),
        both("start", lambda _: 0.0),
        cell("start", one_more),
    ):
        certificate, proof = forged(tmp_path / "spans.json", alter(rows), tmp_path)
        assert exit_code(certificate, proof) == 4


def test_an_altered_score_is_caught(tmp_path: Path) -> None:
    certificate = issue("scores", tmp_path)
    rows = evidence_rows(evidence_of(certificate))
    alterations = [
        cell("score", lambda score: 1 - float(str(score))),
        cell("item", renamed),
        cell("cluster", renamed),
        both("cluster", renamed),
        dropped("subject"),
        swapped,
    ]
    for alter in alterations:
        again, proof = forged(certificate, alter(rows), tmp_path)
        assert (exit_code(certificate, proof), exit_code(again, proof)) == (4, 4)


def test_the_evidence_of_another_certificate_is_caught(plain: Path, clustered: Path, tmp_path: Path) -> None:
    scored = evidence_of(issue("scores", tmp_path))
    assert exit_code(plain, evidence_of(clustered)) == 4
    assert exit_code(plain, scored) == 4
    assert exit_code(*forged(plain, evidence_rows(evidence_of(clustered)), tmp_path)) == 4
    assert exit_code(*forged(plain, evidence_rows(scored), tmp_path)) == 4


def test_truncated_evidence_is_caught(plain: Path, tmp_path: Path) -> None:
    whole = evidence_of(plain).read_bytes()
    for size in (0, 3, 4, 1000, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.parquet").write_bytes(whole[:size])
        found = verify(plain, evidence=tmp_path / "cut.parquet")
        assert found.exit_code == 4
        assert found.faults[0].field == "evidence.sha256"


def test_any_flipped_bit_of_the_evidence_is_caught(plain: Path, tmp_path: Path) -> None:
    whole, chosen = evidence_of(plain).read_bytes(), np.random.default_rng(0)
    for _ in range(30):
        damaged, place = bytearray(whole), int(chosen.integers(len(whole)))
        damaged[place] ^= 1 << int(chosen.integers(8))
        (tmp_path / "damaged.parquet").write_bytes(damaged)
        assert exit_code(plain, tmp_path / "damaged.parquet") == 4


def test_evidence_is_every_row_that_was_given(plain: Path) -> None:
    rows, base, subject = evidence_rows(evidence_of(plain)), example("losses-base.csv"), example("losses-int8.csv")
    found = sorted(zip(rows["model"], rows["window"], rows["tokens"], rows["loss"], strict=True))
    given = [
        (role, *row)
        for role, table in (("baseline", base), ("subject", subject))
        for row in zip(table["window"], table["tokens"], table["loss"], strict=True)
    ]
    assert found == sorted(given)
