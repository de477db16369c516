"""The numbers of a certificate against numpy and arithmetic by hand, in the printed digits."""

import json
from hashlib import sha256
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import examples
from assay.certificate import certify
from assay.certificate.fields import rounded
from assay.certificate.signing import canonical_bytes, digest_of
from assay.certificate.verify import verify
from assay.data.runs import create_or_resume
from assay.design import Policy
from assay.errors import InputError
from tests.certificate.samples import (
    Columns,
    Document,
    evidence_of,
    example,
    issue,
    load,
    losses,
)
from tests.data.files import write_rows

P7 = {
    "primary_metric": "kind preview final ratio_vs_baseline ci display_ci",
    "dataset.windows.stats": "window_match_fraction window_overlap_fraction paired_windows",
    "dataset.windows.stats.paired_delta_summary": "mean std degenerate",
    "dataset.windows.stats.bootstrap": "replicates seed method",
    "dataset.windows.stats.coverage": "preview final",
    "ppl": "preview_final_ratio logloss_delta_ci ratio_ci",
    "ppl.stats.bootstrap": "replicates seed method",
    "ppl.stats.paired_delta_summary": "mean std degenerate",
    "meta.seeds": "bootstrap",
}


def value(document: Document, field: str) -> Any:
    found: Any = document
    for name in field.split("."):
        found = found[name]
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Document:
    return load(issue("losses", tmp_path_factory.mktemp("issued")))


def final(name: str) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """The final windows of an example, by id."""
    table = example(name)
    rows = sorted(i for i, split in enumerate(table["split"]) if split == "final")
    rows.sort(key=lambda i: str(table["window"][i]))
    return {n: np.array([table[n][i] for i in rows]) for n in ("tokens", "bytes", "chars", "loss")}


def test_every_field_of_the_requirements_is_there_in_both_spellings(found: Document) -> None:
    fields = [f"{part}.{name}" for part, names in P7.items() for name in names.split()]
    assert [field for field in fields if value(found, field) is None] == []
    both = ("bootstrap", "paired_delta_summary")
    assert [found["ppl"]["stats"][n] for n in both] == [found["dataset"]["windows"]["stats"][n] for n in both]
    assert found["ppl"]["logloss_delta_ci"] == found["primary_metric"]["ci"]


def printed(number: float) -> float:
    """At most 12 significant digits, as a person would round."""
    return float(f"{number:.12g}")


def test_identities_hold_in_the_printed_digits(certificate: Path) -> None:
    document = load(certificate)
    metric, ppl = document["primary_metric"], document["ppl"]
    if metric["kind"] != "perplexity":
        assert (ppl, metric["display_ci"]) == (None, metric["ci"])
        return
    assert metric["display_ci"] == [printed(exp(limit)) for limit in metric["ci"]]
    assert ppl["ratio_ci"] == [printed(exp(limit)) for limit in ppl["logloss_delta_ci"]]
    assert ppl["preview_final_ratio"] == printed(exp(ppl["stats"]["paired_delta_summary"]["mean"]))
    assert metric["ratio_vs_baseline"] == printed(exp(metric["difference_vs_baseline"]))


@pytest.mark.parametrize("seed", range(2, 7))
def test_identities_hold_where_the_last_digits_of_a_ratio_hang_on_those_of_its_logarithm(
    seed: int, tmp_path: Path
) -> None:
    document = certify(losses(20), losses(20, seed, shift=8.0), tmp_path / "c.json").to_dict()
    metric, exact, drift = (document[name] for name in ("primary_metric", "exact", "drift"))
    assert metric["ratio_vs_baseline"] == printed(exp(metric["difference_vs_baseline"]))
    assert metric["display_ci"] == [printed(exp(limit)) for limit in metric["ci"]]
    assert exact["display_ci"] == [printed(exp(limit)) for limit in exact["ci"]]
    assert drift["ratio"] == printed(exp(drift["log_ratio"]))


def test_no_number_is_printed_with_more_than_12_digits(certificate: Path) -> None:
    numbers: list[float] = []
    json.loads(certificate.read_text(encoding="utf-8"), parse_float=lambda text: numbers.append(float(text)))
    assert len(numbers) > 10
    assert [number for number in numbers if number != printed(number)] == []


def test_the_paired_differences_against_numpy(found: Document) -> None:
    base, after = final("losses-base.csv"), final("losses-int8.csv")
    deltas, tokens = after["loss"] - base["loss"], base["tokens"]
    summary = found["ppl"]["stats"]["paired_delta_summary"]
    variance = float(np.cov(deltas, aweights=tokens, ddof=0)) * 180 / 179
    assert summary["mean"] == pytest.approx(np.average(deltas, weights=tokens), rel=1e-9)
    assert summary["std"] == pytest.approx(variance**0.5, rel=1e-9)
    assert found["dataset"]["windows"]["stats"]["tokens"] == tokens.sum()


def test_perplexities_against_numpy(found: Document) -> None:
    table = example("losses-int8.csv")
    for split in ("preview", "final"):
        rows = [i for i, name in enumerate(table["split"]) if name == split]
        mean = np.average([table["loss"][i] for i in rows], weights=[table["tokens"][i] for i in rows])
        assert found["primary_metric"][split] == pytest.approx(exp(mean), rel=1e-11)


@pytest.mark.parametrize(("field", "size"), [("bits_per_byte", "bytes"), ("bits_per_character", "chars")])
def test_bits_by_hand(found: Document, field: str, size: str) -> None:
    base, after = final("losses-base.csv"), final("losses-int8.csv")
    bits = [float((t["loss"] * t["tokens"]).sum() / log(2) / t[size].sum()) for t in (base, after)]
    stated = found[field]
    assert [stated["baseline"], stated["subject"]] == pytest.approx(bits, rel=1e-11)
    assert stated["difference"] == pytest.approx(bits[1] - bits[0], rel=1e-8)
    assert stated["ci"][0] < stated["difference"] < stated["ci"][1]


def test_bits_need_sizes(tmp_path: Path) -> None:
    document = certify(losses(20), losses(20, 2), tmp_path / "c.json").to_dict()
    assert (document["bits_per_byte"], document["bits_per_character"]) == (None, None)


def test_the_exact_interval_and_its_distance_from_the_random_one(certificate: Path) -> None:
    document = load(certificate)
    exact, metric = document["exact"], document["primary_metric"]
    gap = max(abs(a - b) for a, b in zip(exact["ci"], metric["ci"], strict=True))
    if document["dataset"]["windows"]["stats"]["paired_delta_summary"]["degenerate"]:
        assert (gap, exact["distance"]) == (0, None)
        return
    assert exact["distance"] == pytest.approx(gap / metric["standard_error"], rel=6e-3)
    assert exact["distance"] < 0.5  # 400 or more replicates find the limits to a fraction of a standard error
    assert exact["source"] != "resampling"


def test_more_replicates_come_nearer_to_the_exact_interval(tmp_path: Path) -> None:
    distances = [
        certify(
            losses(120),
            losses(120, 2),
            tmp_path / "c.json",
            policy=Policy(replicates=replicates, seed=seed, note="test"),
        ).to_dict()["exact"]["distance"]
        for replicates in (200, 20_000)
        for seed in range(4)
    ]
    assert np.mean(distances[4:]) < np.mean(distances[:4]) / 3


def test_the_same_inputs_give_the_same_bytes(certificate: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    again = issue(request.node.callspec.params["certificate"], tmp_path)
    if load(certificate)["meta"]["created"] is None:
        assert again.read_bytes() == certificate.read_bytes()
    assert evidence_of(again).read_bytes() == evidence_of(certificate).read_bytes()


def shuffled(columns: Columns) -> Columns:
    order = np.random.default_rng(5).permutation(len(columns["window"])).tolist()
    return {name: [values[i] for i in order] for name, values in columns.items()}


@pytest.mark.parametrize("cluster", [None, "document"])
def test_the_order_of_rows_and_the_format_of_the_file_change_no_number(cluster: str | None, tmp_path: Path) -> None:
    outcomes = []
    for how in ("csv", "shuffled", "parquet", "jsonl"):
        (tmp_path / how).mkdir()
        files = []
        for name in ("losses-base", "losses-int3"):
            rows = example(f"{name}.csv")
            suffix = "csv" if how == "shuffled" else how
            files.append(write_rows(tmp_path / how / f"{name}.{suffix}", shuffled(rows) if how == "shuffled" else rows))
        document = certify(files[0], files[1], tmp_path / how / "c.json", cluster=cluster).to_dict()
        for system in document["systems"].values():
            system |= {"file": None, "sha256": None}
        document["digest"] = None
        outcomes.append((canonical_bytes(document), (tmp_path / how / "c.evidence.parquet").read_bytes()))
    assert outcomes[1:] == outcomes[:1] * 3


def test_a_timestamp_only_on_request(tmp_path: Path) -> None:
    plain = certify(losses(20), losses(20, 2), tmp_path / "a.json").to_dict()["meta"]["created"]
    stamped = certify(losses(20), losses(20, 2), tmp_path / "b.json", timestamp=True).to_dict()["meta"]["created"]
    assert plain is None
    assert stamped.endswith("+00:00")


def test_input_digests_are_those_of_sha256sum(found: Document) -> None:
    for role, name in (("baseline", "losses-base.csv"), ("subject", "losses-int8.csv")):
        digest = sha256(examples.path(name).read_bytes()).hexdigest()
        assert found["systems"][role] | {"model": None, "tokenizer": None} == {
            "name": name.removesuffix(".csv"),
            "file": name,
            "sha256": f"sha256:{digest}",
            "model": None,
            "tokenizer": None,
        }


def test_runs_carry_the_digests_of_their_models(tmp_path: Path) -> None:
    for name, seed in (("old", 1), ("new", 2)):
        about = {"name": name, "digests": {"model": f"sha256:{name}", "tokenizer": "sha256:words"}}
        run = create_or_resume(tmp_path / name, {"shards": 1, "model": about})
        kinds = {"window": object, "split": object}
        run.write_shard(0, {n: np.array(v, dtype=kinds.get(n, np.float64)) for n, v in losses(20, seed).items()})
    found = certify(tmp_path / "old", tmp_path / "new", tmp_path / "c.json").to_dict()
    manifest = sha256((tmp_path / "new" / "run.json").read_bytes()).hexdigest()
    assert found["systems"]["subject"] == {
        "name": "new",
        "file": "new",
        "sha256": f"sha256:{manifest}",
        "model": "sha256:new",
        "tokenizer": "sha256:words",
    }
    assert (
        found["primary_metric"] == certify(losses(20), losses(20, 2), tmp_path / "d.json").to_dict()["primary_metric"]
    )
    assert verify(tmp_path / "c.json").true


def test_the_digest_is_the_sha256_of_the_canonical_rest(certificate: Path) -> None:
    document = load(certificate)
    stated = document.pop("digest")
    text = json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    assert stated == "sha256:" + sha256(text.encode()).hexdigest() == digest_of(document)


def test_rounding_keeps_12_digits_and_no_minus_zero() -> None:
    assert rounded(1.2345678901234567) == 1.23456789012
    assert str(rounded(-0.0)) == "0.0"


@pytest.mark.parametrize("size", [800.0, 1e200])
def test_losses_too_large_for_a_perplexity_are_refused(size: float, tmp_path: Path) -> None:
    large = losses(20) | {"loss": [size] * 40}
    for baseline, subject in ((losses(20), large), (large, losses(20)), (large, large)):
        with pytest.raises(InputError, match="too large for a perplexity"):
            certify(baseline, subject, tmp_path / "c.json")
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_utf8_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a certificate cannot hold this"):
        certify(losses(20), losses(20, 2), tmp_path / "c.json", policy=Policy(note="\udcff"))
    assert list(tmp_path.iterdir()) == []


def test_models_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    found = certify(losses(20), losses(20, 2), tmp_path / "c.json")
    assert "the table (subject) may replace the table (baseline)" in found.sentence
    assert verify(tmp_path / "c.json").true


def test_a_certificate_of_one_file_with_two_models(tmp_path: Path) -> None:
    base, after = losses(20), losses(20, 2)
    rows: Columns = {n: [*base[n], *after[n]] for n in base} | {"model": ["old"] * 40 + ["new"] * 40}
    write_rows(tmp_path / "both.csv", rows)
    found = certify(tmp_path / "both.csv", None, tmp_path / "c.json", models=("old", "new"))
    apart = certify(base, after, tmp_path / "d.json")
    assert found.to_dict()["primary_metric"] == apart.to_dict()["primary_metric"]
    assert (found.to_dict()["systems"]["subject"]["name"], verify(tmp_path / "c.json").true) == ("new", True)


def test_a_data_frame_is_a_source(tmp_path: Path) -> None:
    import pandas as pd

    found = certify(pd.DataFrame(losses(20)), pd.DataFrame(losses(20, 2)), tmp_path / "c.json").to_dict()
    assert (
        found["primary_metric"] == certify(losses(20), losses(20, 2), tmp_path / "d.json").to_dict()["primary_metric"]
    )
