"""Large files of harnesses, made of the records of the fixtures: the same fields and texts, other ids and scores."""

import json
import random
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import duckdb
import zstandard

FIXTURES = Path(__file__).resolve().parents[2] / "tests" / "data" / "harness"
_STAMP = "2026-01-01T00-00-00.000000"
_QUESTION = "What is the answer to the question of number {0}? " * 8


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file, and how plain Python reads it."""

    name: str
    written: Callable[[Path, int], Path]
    metric: str | None
    #: A program that parses the file ``path`` with ``json`` alone; none where it is not JSON.
    plain: str | None
    #: The same by pandas; none where it cannot read it.
    pandas: str | None = None
    #: A program that reads the file, and one in which msgspec skips over all of it: the least that a reader can take.
    floors: tuple[str, str] | None = None


LINES = "import json\nfor line in open(path, 'rb'): json.loads(line)"
DOCUMENT = "import json\njson.load(open(path, 'rb'))"
MEMBERS = """import json, zstandard
from pathlib import Path
from assay.data.readers.harness.inspect_archive import open_archive
with open_archive(Path(path)) as archive:
    for name in archive.names():
        json.loads(archive.read(name))"""
_BLOCKS = """from pathlib import Path
import msgspec
from assay.data.readers.harness.{module} import {names}
class Nothing(msgspec.Struct, gc=False): pass
for block in {blocks}:
    {work}"""
_LINES = {"module": "lines", "names": "whole_lines", "blocks": "whole_lines(Path(path))"}
_INSPECT = {
    "module": "inspect_json",
    "names": "_from_samples, _ended, parts_of_list, BETWEEN",
    "blocks": "_ended(parts_of_list(_from_samples(Path(path)), BETWEEN))",
}
_HELM = {
    "module": "helm_stats",
    "names": "file_blocks, parts_of_list, _BETWEEN",
    "blocks": "parts_of_list(file_blocks(Path(path)), _BETWEEN)",
}


def _floors(written: dict[str, str], decode: str) -> tuple[str, str]:
    return _BLOCKS.format(**written, work="pass"), _BLOCKS.format(**written, work=decode)


OF_LINES = _floors(_LINES, "msgspec.json.Decoder(Nothing).decode_lines(block)")
OF_INSPECT, OF_HELM = (_floors(one, "msgspec.json.decode(block, type=list[Nothing])") for one in (_INSPECT, _HELM))
PANDAS_LINES = "import pandas\npandas.read_json(path, lines=True)"


def _random(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - scores of a benchmark


def lm_eval(folder: Path, rows: int, size: int = 0) -> Path:
    """Samples of one task; ``size`` is how many bytes of prompt to add to each."""
    source = next((FIXTURES / "lm_eval").rglob("samples_tiny_sky*.jsonl"))
    record = json.loads(source.read_text("utf-8").splitlines()[0])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_large_{_STAMP}.jsonl"
    rng = _random(rows)
    with path.open("w", encoding="utf-8") as file:
        for i in range(rows):
            name = sha256(str(i).encode()).hexdigest()
            text = (_QUESTION.format(i) * (1 + size // 400))[: max(size, 1_500)]
            doc = {**record["doc"], "question": text}
            row = {
                **record,
                "doc_id": i,
                "doc": doc,
                "doc_hash": name,
                "prompt_hash": name,
                "acc": rng.choice((0.0, 1.0)),
            }
            file.write(json.dumps(row) + "\n")
    return path


def human_eval(folder: Path, rows: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path, rng = folder / "samples.jsonl_results.jsonl", _random(rows)
    with path.open("w", encoding="utf-8") as file:
        for i in range(rows):
            row = {
                "task_id": f"HumanEval/{i}",
                "completion": "    return " + _QUESTION.format(i),
                "passed": rng.random() < 0.5,
            }
            row["result"] = "passed" if row["passed"] else "failed: "
            file.write(json.dumps(row) + "\n")
    return path


def every_eval_ever(folder: Path, rows: int) -> Path:
    source = next((FIXTURES / "every_eval_ever").rglob("*_samples.jsonl"))
    text = source.read_text("utf-8").splitlines()[0]
    record = json.loads(text)
    folder.mkdir(parents=True, exist_ok=True)
    path, rng = folder / "large_samples.jsonl", _random(rows)
    with path.open("w", encoding="utf-8") as file:
        for i in range(rows):
            score = rng.choice((0.0, 1.0))
            own = {"sample_id": str(i), "sample_hash": sha256(str(i).encode()).hexdigest()}
            judged = {**record["evaluation"], "score": score, "is_correct": score > 0}
            file.write(json.dumps({**record, **own, "evaluation": judged}) + "\n")
    return path


def helm(folder: Path, rows: int) -> Path:
    source = next((FIXTURES / "helm").glob("tiny_choices*"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run_spec.json").write_bytes((source / "run_spec.json").read_bytes())
    entries = json.loads((source / "per_instance_stats.json").read_text("utf-8"))
    first = max(entries, key=lambda entry: len(entry["stats"]))
    text = json.dumps(first, indent=2).replace("\n", "\n  ")
    return _list(folder / "per_instance_stats.json", "[", text, f'"{first["instance_id"]}"', "id", rows, "\n]")


def inspect_json(folder: Path, rows: int) -> Path:
    log = json.loads((FIXTURES / "inspect" / "small.json").read_text("utf-8"))
    whole = json.dumps({**log, "samples": []}, indent=2)
    before, _, after = whole.partition('"samples": []')
    sample = log["samples"][0]
    text = json.dumps(sample, indent=2).replace("\n", "\n    ")
    folder.mkdir(parents=True, exist_ok=True)
    end = "\n  ]" + after
    return _list(folder / "log.json", before + '"samples": [', text, f'"{sample["id"]}"', "q", rows, end, indent="    ")


def _list(path: Path, start: str, text: str, own: str, name: str, rows: int, end: str, *, indent: str = "  ") -> Path:
    """A list over several lines, of one record with other ids."""
    with path.open("w", encoding="utf-8") as file:
        file.write(start)
        for i in range(rows):
            file.write(f"{',' if i else ''}\n{indent}" + text.replace(own, f'"{name}{i}"'))
        file.write(end)
    return path


def inspect_eval(folder: Path, rows: int) -> Path:
    """An archive as inspect packs it: a member for each sample, their summaries, the header."""
    from assay.data.readers.harness.inspect_archive import open_archive

    with open_archive(FIXTURES / "inspect" / "large.eval") as log:
        sample, header = log.read("samples/q0_epoch_1.json"), log.read("header.json")
        summary = json.dumps(json.loads(log.read("summaries.json"))[0], separators=(",", ":")).encode()
    folder.mkdir(parents=True, exist_ok=True)
    path, rng, grades = folder / "log.eval", _random(rows), (b'"value":"C"', b'"value":"I"')

    def members() -> Iterator[tuple[str, bytes]]:
        summaries = []
        for i in range(rows):
            grade, own = rng.choice(grades), b'"id":"q%d"' % i
            one, short = (data.replace(b'"id":"q0"', own).replace(grades[0], grade) for data in (sample, summary))
            summaries.append(short)
            yield f"samples/q{i}_epoch_1.json", one
        yield "summaries.json", b"[" + b",".join(summaries) + b"]"
        yield "header.json", header

    _pack(path, members())
    return path


def _pack(path: Path, members: Iterator[tuple[str, bytes]]) -> None:
    """A ZIP archive of zstandard members, with the index of large archives."""
    pack, index = zstandard.ZstdCompressor(), list[bytes]()
    with path.open("wb") as file:
        for name, data in members:
            packed, raw, offset = pack.compress(data), name.encode(), file.tell()
            sizes = (zlib.crc32(data), len(packed), len(data))
            file.write(struct.pack("<4s5H3I2H", b"PK\x03\x04", 45, 0, 93, 0, 0, *sizes, len(raw), 0) + raw + packed)
            extra = struct.pack("<2HQ", 1, 8, offset)
            fields = (45, 45, 0, 93, 0, 0, *sizes, len(raw), len(extra), 0, 0, 0, 0, 0xFFFFFFFF)
            index.append(struct.pack("<4s6H3I5H2I", b"PK\x01\x02", *fields) + raw + extra)
        start, length, count = file.tell(), sum(map(len, index)), len(index)
        file.writelines(index)
        end = file.tell()
        file.write(struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, length, start))
        file.write(struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1))
        file.write(struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 65535, 65535, 0xFFFFFFFF, 0xFFFFFFFF, 0))


def lighteval(folder: Path, rows: int) -> Path:
    source = next((FIXTURES / "lighteval" / "details").rglob("*.parquet"))
    place = folder / "details" / "large" / _STAMP
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"details_large_{_STAMP}.parquet"
    rows_of = f"(SELECT * FROM '{source}' LIMIT 1), range({rows}) AS numbers(i)"  # noqa: S608
    doc = "struct_update(doc, id := i::VARCHAR, query := doc.query || ' ' || i) AS doc"
    wanted = f"SELECT {doc}, metric, model_response FROM {rows_of}"  # noqa: S608 - our own file and number
    duckdb.execute(f"COPY ({wanted}) TO '{path}' (FORMAT parquet)")
    return path


KINDS = (
    Kind("lm-eval samples", lm_eval, "acc", LINES, PANDAS_LINES, OF_LINES),
    Kind("human-eval results", human_eval, None, LINES, PANDAS_LINES, OF_LINES),
    Kind("Every Eval Ever samples", every_eval_ever, None, LINES, PANDAS_LINES, OF_LINES),
    Kind("inspect .eval", inspect_eval, None, MEMBERS),
    Kind("inspect .json", inspect_json, None, DOCUMENT, floors=OF_INSPECT),
    Kind("HELM per_instance_stats.json", helm, "exact_match", DOCUMENT, floors=OF_HELM),
    Kind("lighteval details", lighteval, "acc", None),
)
