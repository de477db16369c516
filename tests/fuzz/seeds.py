"""Small good files of every kind, to be spoiled: what users bring, and what Assay itself writes."""

import gzip
import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import zstandard

from assay import examples
from assay.analyses.compare import compare
from assay.analyses.power import power
from assay.analyses.rank import rank
from assay.certificate import certify
from assay.certificate.signing import generate_keys
from assay.data.readers.database import copy_columns
from assay.examples import RUNS
from assay.results.record import Result
from tests.data.runs.token_runs import story
from tests.data.runs.token_runs import write_run as write_tokens
from tests.data.survey import surveys

HARNESS = Path(__file__).parents[1] / "data" / "harness"
Files = Mapping[str, bytes]  # relative name → content


# --------------------------------------------------------------------------------------------------------------- tables


def _scores(n: int = 40, seed: int = 0, shift: float = 0.0) -> dict[str, list[Any]]:
    rng = np.random.default_rng([seed, 7])
    own = np.random.default_rng([seed, round(shift * 100) % 1000])
    base = rng.random(n)
    return {
        "item": [f"q{i}" for i in range(n)],
        "score": np.round(np.clip(base + shift + own.normal(0, 0.1, n), 0, 1), 4).tolist(),
        "cluster": [f"c{i // 4}" for i in range(n)],
    }


def _losses(n: int = 40, seed: int = 0, shift: float = 0.0) -> dict[str, list[Any]]:
    rng = np.random.default_rng([seed, 3])
    return {
        "window": [f"w{i:03}" for i in range(n)],
        "tokens": [64] * n,
        "loss": np.round(2 + shift + rng.normal(0, 0.3, n), 5).tolist(),
        "document": [f"d{i // 5}" for i in range(n)],
    }


def _csv(columns: Mapping[str, list[Any]]) -> bytes:
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return ("\n".join(rows) + "\n").encode()


def _jsonl(columns: Mapping[str, list[Any]]) -> bytes:
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _parquet(columns: Mapping[str, list[Any]]) -> bytes:
    arrays = {
        name: np.array(values, dtype=object if isinstance(values[0], str) else type(values[0]))
        for name, values in columns.items()
    }
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.parquet"
        copy_columns(arrays, path)
        return path.read_bytes()


@cache
def two_scores() -> Files:
    return {
        "a.tsv": _csv(_scores()),
        "a.csv": _csv(_scores()),
        "b.csv": _csv(_scores(shift=-0.1)),
        "c.csv": _csv(_scores(shift=0.05)),
    }


def _workbook(columns: Mapping[str, list[Any]]) -> bytes:
    """The least that makes an Excel workbook, by hand."""
    kind, office = "application/vnd.openxmlformats-officedocument.spreadsheetml", "http://schemas.openxmlformats.org"
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    cells = ["".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row) for row in rows]
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{office}/package/2006/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{office}/spreadsheetml/2006/main" xmlns:r="{office}/officeDocument/2006/'
        'relationships"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship '
        f'Id="r1" Type="{office}/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{office}/spreadsheetml/2006/main"><sheetData>'
        + "".join(f"<row>{row}</row>" for row in cells)
        + "</sheetData></worksheet>",
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return made.getvalue()


@cache
def containers() -> Files:
    """The same scores in all that a table may come in."""
    a, b = _scores(), _scores(shift=-0.1)
    rows = [dict(zip(b, row, strict=True)) for row in zip(*b.values(), strict=True)]
    split = {"columns": list(b), "data": [list(row.values()) for row in rows]}
    wide = {"id": a["item"], "topic": a["cluster"], "one": a["score"], "two": b["score"]}
    lost = {**b, "status": ["error" if i % 9 == 0 else "ok" for i in range(len(rows))]}
    return {
        "a.csv": _csv(a),
        "b.json": json.dumps(rows).encode(),
        "split.json": json.dumps(split).encode(),
        "b.xlsx": _workbook(b),
        "b.csv.gz": gzip.compress(_csv(b), mtime=0),
        "b.jsonl.zst": zstandard.ZstdCompressor().compress(_jsonl(b)),
        "wide.csv": _csv(wide),
        "lost.csv": _csv(lost),
    }


@cache
def two_losses() -> Files:
    a, b = _losses(), _losses(shift=0.02)
    return {"a.jsonl": _jsonl(a), "b.jsonl": _jsonl(b), "a.parquet": _parquet(a), "b.parquet": _parquet(b)}


@cache
def repeated() -> Files:
    runs = [_scores(20, seed=run) for run in range(3)]
    columns = {name: [value for run in runs for value in run[name]] for name in ("item", "score")}
    return {"runs.csv": _csv({**columns, "run": [str(run) for run in range(3) for _ in range(20)]})}


def harness_files(*names: str) -> Callable[[], Files]:
    return lambda: {
        str(path.relative_to(HARNESS)): path.read_bytes()
        for name in names
        for path in ([HARNESS / name] if (HARNESS / name).is_file() else sorted((HARNESS / name).rglob("*")))
        if path.is_file()
    }


def written_by(write: Callable[[Path], object]) -> Callable[[], Files]:
    """What a function writes into an empty folder."""

    @cache
    def files() -> Files:
        with TemporaryDirectory() as name:
            folder = Path(name)
            write(folder)
            return {
                str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
            }

    return files


# ------------------------------------------------------------------------------------------------ runs and certificates


def run_files(folder: Path) -> None:
    """Two runs with windows and tokens, as `assay score --keep-tokens` writes them."""
    for name, shift in (("a", 0.0), ("b", 0.1)):
        run = write_tokens(folder / name, story(1, 12, shift=shift), shards=1, called=name)
        columns = _losses(12, shift=shift)
        arrays = {
            key: np.array(value, dtype=object if isinstance(value[0], str) else type(value[0]))
            for key, value in columns.items()
        }
        copy_columns(arrays, run / "windows-00000.parquet")


def certificate_files(folder: Path) -> None:
    for name, content in two_losses().items():
        if name.endswith("jsonl"):
            (folder / name).write_bytes(content)
    generate_keys(folder / "key")
    certify(folder / "a.jsonl", folder / "b.jsonl", folder / "cert.json", sign_with=folder / "key")
    (folder / "policy.json").write_text('{"max_ratio": 1.5, "min_windows": 10}', encoding="utf-8")
    (folder / "policy.toml").write_text("max_ratio = 1.5\nmin_windows = 10\n", encoding="utf-8")


def suite_certificate_files(folder: Path) -> None:
    for name, period in (("a", 3), ("b", 4)):
        rows = "".join(f"q{i},t{i % 2},{int(i % period > 0)},{1 + i % 4}\n" for i in range(60))
        (folder / f"{name}.csv").write_text(f"item,task,score,price\n{rows}", encoding="utf-8")
    policy = "note: wide\ntotal: {max_drop: 0.5, max_price_ratio: 2}\ntasks:\n  t0: {max_drop: 0.4, min_score: 0.1}\n"
    (folder / "policy.yaml").write_text(policy, encoding="utf-8")
    certify(folder / "a.csv", folder / "b.csv", folder / "cert.json", policy=folder / "policy.yaml")


def result_files(folder: Path) -> None:
    for name, content in two_scores().items():
        (folder / name).write_bytes(content)
    found: dict[str, Result] = {
        "comparison": compare(folder / "a.csv", folder / "b.csv"),
        "leaderboard": rank(folder / "a.csv", folder / "b.csv", folder / "c.csv"),
        "power": power(folder / "a.csv", folder / "b.csv", items=100),
    }
    for name, result in found.items():
        (folder / f"{name}.json").write_text(json.dumps(result.to_dict()), encoding="utf-8")


# ------------------------------------------------------------------------------------------------- training and surveys


def training_files(folder: Path) -> None:
    rng = np.random.default_rng(0)
    for arm in ("full", "lora"):
        steps = [
            {
                "step": 5 * i,
                "loss": round(3 / i**0.3 + float(rng.normal(0, 0.02)), 4),
                "grad_norm": 1.0,
                "learning_rate": 1e-4,
                "epoch": i / 10,
            }
            for i in range(1, 31)
        ]
        evals = [{"step": 50 * i, "eval_loss": 2.0 - 0.1 * i, "eval_runtime": 1.0} for i in range(1, 4)]
        history = [*steps, *evals, {"train_runtime": 10.0, "train_loss": 2.0, "step": 150}]
        state = {"log_history": history, "global_step": 150, "max_steps": 150, "num_input_tokens_seen": 1000}
        (folder / f"{arm}-state.json").write_text(json.dumps(state), encoding="utf-8")
        metrics = [
            {"step": i, "train loss": 3 / i, "valid accuracy": 0.5, "train total tokens": 10 * i} for i in range(1, 20)
        ]
        info = {
            "metrics": metrics,
            "status": "success",
            "train_time": 5.0,
            "num_total_params": 100,
            "num_trainable_params": 10,
            "accelerator_memory_max": 1000,
        }
        run = {"experiment_name": arm, "train_config": {"seed": 0, "max_steps": 19}, "total_time": 7.0}
        (folder / f"{arm}-peft.json").write_text(json.dumps({"train_info": info, "run_info": run}), encoding="utf-8")
        table = {"step": [row["step"] for row in steps], "loss": [row["loss"] for row in steps]}
        (folder / f"{arm}.csv").write_bytes(_csv(table))
        (folder / f"{arm}.jsonl").write_bytes(_jsonl(table))
    (folder / "targets.json").write_text('{"perplexity": 20, "kanji": 0.5}', encoding="utf-8")
    (folder / "targets.toml").write_text("perplexity = 20\nkanji = 0.5\n", encoding="utf-8")


def training_run_files() -> Files:
    names = ("full-0", "lora-0")
    return {
        f"{name}/{path.relative_to(RUNS / name)}": path.read_bytes()
        for name in names
        for path in sorted((RUNS / name).rglob("*"))
        if path.is_file()
    }


def survey_files(folder: Path) -> None:
    surveys.write(folder, "survey.json", surveys.survey())
    for segment in surveys.SEGMENTS:
        answers: dict[str, dict[str, str | None]] = {
            question: {
                model: json.dumps(surveys.truth_of(segment, question)[::turn])
                for model, turn in (("one", 1), ("two", -1))
            }
            for question in surveys.OPTIONS
        }
        surveys.write(folder, f"results/{segment.replace(':', '-')}.json", surveys.result(segment, answers))
    truth = ["question,segment,n,o1,o2,o3"]
    predicted = ["model,question,segment,o1,o2,o3"]
    for entry in surveys.survey()["segments"]:
        for response in entry["responses"]:
            cells = [*map(str, response["distribution"]), ""][:3]
            truth.append(",".join([response["questionId"], entry["id"], str(entry["sampleSize"]), *cells]))
            for model in ("one", "two"):
                turned = cells if model == "one" else [*cells[:2][::-1], *cells[2:]]
                predicted.append(",".join([model, response["questionId"], entry["id"], *turned]))
    scores = [{"segmentId": "town", "avgCoverageExtent": 0.5, "promptCount": 3}]
    found = [{"modelId": model, "overallScore": 0.7, "segmentScores": scores} for model in ("one", "two")]
    slopes = {"models": [{"modelId": "one", "overallSlope": 0.01}]}
    summary = {
        "surveyId": "made-up",
        "baselines": {"uniform": 0.6},
        "aggregation": {"modelResults": found, "contextAnalysis": slopes},
    }
    surveys.write(folder, "summary.json", summary)
    surveys.write(folder, "prior.json", surveys.survey())
    (folder / "truth.csv").write_text("\n".join(truth) + "\n", encoding="utf-8")
    (folder / "predicted.csv").write_text("\n".join(predicted) + "\n", encoding="utf-8")


@cache
def renamed_samples() -> Files:
    found = {path.parent.name: path.read_bytes() for path in sorted(HARNESS.rglob("samples_tiny_sky_*.jsonl"))}
    return {"base.jsonl": found["stories260K-hf"], "int4.jsonl": found["stories15M-hf"]}


def text_files() -> Files:
    text = "In the beginning was the word.\n\nAnd the word was é, 日本語.\n" * 5
    return {"text.txt": text.encode(), "text.jsonl": _jsonl({"text": text.splitlines()})}


def generations() -> Files:
    lines = examples.path("generations.csv").read_text(encoding="utf-8").splitlines()
    plain = [line for line in lines[1:] if line.count(",") == 3 and '"' not in line]
    items = Counter(line.split(",")[1] for line in plain)
    kept = [line for line in plain if items[line.split(",")[1]] == max(items.values())]
    return {"generations.csv": ("\n".join([lines[0], *kept]) + "\n").encode()}
