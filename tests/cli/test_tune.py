"""`assay tune`: reports on stdout, charts and Markdown in files, refusals as one line; `assay tune run` for real."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.analyses.tune import tune
from assay.analyses.tune.result import TuningReport
from assay.examples import RUNS
from tests.analyses.tune.test_validation import trainer
from tests.cli.command import Shell
from tests.training.runs import one_thread, write_run

PAIR = (str(RUNS / "lora-0"), str(RUNS / "full-0"))


def test_text_is_the_record_of_the_library(shell: Shell) -> None:
    ran = shell("tune", *PAIR)
    assert (ran.exit_code, ran.err, ran.out) == (0, "", str(tune(*PAIR)) + "\n")
    assert shell("tune", "report", *PAIR).out == ran.out


def test_json_is_the_record_of_the_library_also_with_the_option_first(shell: Shell) -> None:
    assert TuningReport.from_dict(json.loads(shell("tune", "--json", *PAIR).out)) == tune(*PAIR)


def test_chart_and_markdown_are_written_beside_the_text(shell: Shell) -> None:
    ran = shell("tune", *PAIR, str(RUNS / "lora-rates"), "--chart", "c.svg", "--markdown", "c.md")
    assert (ran.exit_code, ran.err) == (0, "Chart: c.svg\nMarkdown: c.md\n")
    assert b"<svg" in (shell.folder / "c.svg").read_bytes()[:200]
    assert "### Recommendations" in (shell.folder / "c.md").read_text(encoding="utf-8")


def test_targets_from_a_file(shell: Shell) -> None:
    shell.write("t.json", '{"perplexity": 100}')
    found = json.loads(shell("tune", *PAIR, "--targets", "t.json", "--json").out)
    status = {(c["arm"], c["name"]): c["status"] for c in found["criteria"]}
    assert (status["full", "perplexity"], status["lora r=16", "perplexity"]) == ("met", "not met")


def test_targets_by_name_and_without_any(shell: Shell) -> None:
    asked, plain = (json.loads(shell("tune", *PAIR, *more, "--json").out) for more in (("--targets", "japanese"), ()))
    assert (plain["targets"], plain["criteria"]) == (None, [])
    assert asked["targets"]["perplexity"] == 12
    assert {"perplexity", "kanji", "performance_loss"} <= {one["name"] for one in asked["criteria"]}
    shell.assert_refused("tune", *PAIR, "--targets", "japanes", parts=["japanes: no such file", "or japanese"])


def test_the_shape_of_targets_is_printed(shell: Shell) -> None:
    found = json.loads(shell("schema", "targets").out)
    assert (found["title"], found["properties"]["kanji"]["maximum"]) == ("Targets", 1)


def test_items_and_every_table_from_the_command_line(shell: Shell) -> None:
    names = [f"a{i}.json" for i in range(8)]
    metrics = '[{"step": 1, "train loss": 2.0, "test accuracy": 0.5}]'
    for name in names:
        shell.write(name, f'{{"train_info": {{"metrics": {metrics}, "status": "success"}}, "run_info": null}}')
    small, full = (shell("tune", *names, "--items", "20", *more) for more in ((), ("--full",)))
    assert (
        "0.500 [0.299 to 0.701]" in small.out
    )  # Agresti and Coull's of 10 of 20: Brown, Cai and DasGupta (2001), eq. 5
    assert small.out.count("\n") < full.out.count("\n")
    assert "Convergence\n" in full.out
    shell.assert_refused("tune", names[0], "--items", "3", exit_code=2, parts=["no whole number", "--items 3"])


def test_help_names_both_commands(shell: Shell) -> None:
    ran = shell("tune", "--help")
    assert ran.exit_code == 0
    assert "report" in ran.out
    assert "run" in ran.out


def test_refusals_are_one_line(shell: Shell) -> None:
    shell.assert_refused("tune", "nowhere", parts=["nowhere: no such file or folder"])
    shell.assert_refused("tune", *PAIR, "--chart", "c.gif", exit_code=2, parts=[".svg, .png or .pdf"])
    shell.assert_refused("tune", *PAIR, "--baseline", "x", exit_code=2, parts=["no arm 'x'"])
    shell.assert_refused("tune", *PAIR, "--nonsense", exit_code=2, parts=["--nonsense"])
    write_run(shell.folder / "a", [2.0, 1.0], validation="x")
    write_run(shell.folder / "b", [2.0, 1.0], arm="b", validation="y")
    shell.assert_refused("tune", "a", "b", parts=["different validation sets"])
    shell.write("x.txt", "a")
    common = ("--train", "x.txt", "--valid", "x.txt", "-o", "r")
    shell.assert_refused(
        "tune", "run", "--base", "nowhere-at-all", *common, "--steps", "0", exit_code=2, parts=["steps"]
    )
    shell.assert_refused("tune", "run", "--base", "x", *common, "--lrs", "1,b", exit_code=2, parts=["--lrs"])


STATE = '{"log_history": [{"step": 1, "loss": 2.0}, {"step": 1, "loss": 1.0}]}'
PEFT = '{"train_info": {"metrics": [{"step": 1, "train loss": 2.0}], "status": "success"}, "run_info": null}'


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("a.csv", "step,loss\n", "a.csv"),
        ("a.csv", "step,loss\n-1,2.0\n2,1.0\n", "whole number from 0 on, but got -1"),
        ("a.csv", "step,loss\n1.5,2.0\n", "but got 1.5"),
        ("a.csv", "step,loss\n1,2.0\n1,1.0\n", "step 1 has two training losses, 2 and 1"),
        ("a.csv", "step,loss\nfirst,2.0\n", "a.csv"),
        ("a.jsonl", '{"step": 1, "loss": 2.0}\n{"step": 2, "lo', "a.jsonl"),
        ("a.parquet", "PAR1\x00\x00", "a.parquet"),
        ("a.json", STATE, "step 1 has two training losses, 2 and 1"),
        ("a.json", '{"log_history": [{"step": 1, "eval_loss": 2.0}]}', "no steps with a training loss"),
        ("a.json", '{"train_info": {}}', "no steps with a training loss"),
        ("a.json", '{"train_info": {"metrics": null}}', "no steps with a training loss"),
        ("a.json", "[1]", "neither a trainer_state.json"),
    ],
)
def test_bad_logs_are_refused_in_one_line(shell: Shell, name: str, text: str, part: str) -> None:
    shell.write(name, text)
    shell.assert_refused("tune", name, parts=[part])


def test_a_parquet_file_that_is_cut_off_is_refused(shell: Shell) -> None:
    whole = next((RUNS / "full-0" / "windows").glob("*.parquet")).read_bytes()
    (shell.folder / "a.parquet").write_bytes(whole[: len(whole) // 2])
    shell.assert_refused("tune", "a.parquet", parts=["a.parquet"])


def test_a_run_whose_windows_are_cut_off_is_refused(shell: Shell) -> None:
    for name in ("lora-0", "full-0"):
        shutil.copytree(RUNS / name, shell.folder / name)
    (windows,) = (shell.folder / "lora-0" / "windows").glob("*.parquet")
    windows.write_bytes(windows.read_bytes()[:1000])
    shell.assert_refused("tune", "lora-0", "full-0", parts=["lora-0"])


def test_bad_runs_targets_and_settings_are_refused_in_one_line(shell: Shell) -> None:
    (shell.folder / "empty").mkdir()
    shell.assert_refused("tune", "empty", parts=["empty: no training run in it"])
    write_run(shell.folder / "none", [])
    shell.assert_refused("tune", "none", parts=["the log has no steps"])
    write_run(shell.folder / "a", [2.0, 1.0], tokenizer="x")
    write_run(shell.folder / "b", [2.0, 1.0], arm="b", tokenizer="y")
    shell.assert_refused("tune", "a", "b", parts=["different tokenizers"])
    shell.write("t.json", '{"perplexty": 3}')
    shell.assert_refused(
        "tune", "a", "--targets", "t.json", parts=["unknown target 'perplexty'", "did you mean 'perplexity'"]
    )
    shell.assert_refused("tune", "a", "--targets", "nowhere.json", parts=["nowhere.json"])
    shell.write("x.txt", "a")
    common = ("tune", "run", "--base", "x", "--train", "x.txt", "--valid", "x.txt", "-o", "r")
    for option, value in (("--lrs", "1e-4,,x"), ("--lrs", "nan"), ("--rank", "0"), ("--method", "foo"), ("--lr", "-1")):
        shell.assert_refused(*common, option, value, exit_code=2)
    for option, value in (("--alpha", "0"), ("--alpha", "x"), ("--dropout", "1"), ("--modules", "q_proj,")):
        shell.assert_refused(*common, option, value, exit_code=2, parts=[option.strip("-")])
    shell.assert_refused(*common, "--method", "full", "--train-embeddings", exit_code=2, parts=["no LoRA to set"])
    assert not (shell.folder / "r").exists()


def test_a_peft_result_with_missing_keys_is_reported_as_far_as_it_goes(shell: Shell) -> None:
    shell.write("a.json", PEFT)
    arm = json.loads(shell("tune", "a.json", "--json").out)["detailed_metrics"]["arms"][0]
    assert (arm["name"], arm["total"], arm["memory"]) == ("a", None, {})


def test_a_divergence_is_reported_and_named_with_its_step(shell: Shell) -> None:
    write_run(shell.folder / "a", [2.0, 1.5, "nan", 1.0])
    ran = shell("tune", "a")
    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out.startswith("full diverged at step 3 (a).\n")


def test_an_event_that_is_cut_off_is_a_note(shell: Shell) -> None:
    run = write_run(shell.folder / "a", [2.0, 1.5], end=False)
    with (run / "events.jsonl").open("a") as file:
        file.write('{"kind": "step", "st')
    ran = shell("tune", "a")
    assert ran.exit_code == 0
    assert "line 3 is cut off" in ran.out


@pytest.fixture
def quick() -> Iterator[None]:
    with one_thread():
        yield


@pytest.mark.usefixtures("quick")
def test_a_run_is_trained_scored_and_reported(shell: Shell) -> None:
    pytest.importorskip("peft")
    from assay import models

    text = models.path("ja.txt").read_text(encoding="utf-8").split("\n\n")
    shell.write("train.txt", "\n\n".join(text[:4]))
    shell.write("valid.txt", "\n\n".join(text[4:6]))
    common = ["tune", "run", "--base", str(models.path("base")), "--train", "train.txt", "--valid", "valid.txt"]
    common += ["--split-on", r"\n\n", "--context", "64", "--steps", "3", "--rows", "2", "--every-validation", "2"]
    first = shell(*common, "-o", "lora", "--rank", "2")
    assert (first.exit_code, first.err) == (0, "")
    assert first.out.startswith("lora r=2, seed 0, rate 0.0002: validation loss ")
    assert shell(*common, "-o", "full", "--method", "full").exit_code == 0
    assert shell(*common, "-o", "lora", "--rank", "2").out == first.out  # what is there is not trained again
    shell.assert_refused(*common, "-o", "lora", "--rank", "4", parts=["holds another training run"])
    report = tune(shell.folder / "lora", shell.folder / "full")
    (contrast,) = report.contrasts
    assert (contrast.baseline, contrast.windows is not None) == ("full", True)
    assert 0 < (report.arm("full").quality["character_accuracy"].value or 0) < 1
    for arm in report.arms:  # the callback's token-weighted loss and the scorer's agree
        (log,) = arm.runs
        events = [json.loads(line) for line in (Path(log.label) / "events.jsonl").read_text().splitlines()]
        last = [e["loss"] for e in events if e["kind"] == "validation"][-1]
        assert log.validation_loss == pytest.approx(last, rel=1e-5)


@pytest.mark.usefixtures("quick")
def test_a_run_with_every_choice_of_lora_records_them_and_refuses_others(shell: Shell) -> None:
    pytest.importorskip("peft")
    from assay import models

    text = models.path("ja.txt").read_text(encoding="utf-8").split("\n\n")
    shell.write("train.txt", text[0])
    shell.write("valid.txt", text[4])
    common = ["tune", "run", "--base", str(models.path("base")), "--train", "train.txt", "--valid", "valid.txt"]
    common += ["--context", "64", "--steps", "2", "--rows", "2", "--rank", "2", "-o", "r"]
    choices = ["--alpha", "8", "--dropout", "0.1", "--train-embeddings", "--modules"]
    shell.assert_refused(*common, *choices, "q_proj,query", exit_code=2, parts=["--modules", "'query'", "q_proj"])
    assert not (shell.folder / "r").exists()
    ran = shell(*common, *choices, "v_proj,q_proj")
    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out.startswith("lora r=2 alpha=8 dropout=0.1 on q_proj,v_proj + embeddings, seed 0, ")
    found = json.loads((shell.folder / "r" / "training.json").read_text())["settings"]
    wanted = {"alpha": 8, "dropout": 0.1, "modules": "q_proj,v_proj", "train_embeddings": True}
    assert {name: found[name] for name in wanted} == wanted
    assert shell(*common, *choices, "q_proj,v_proj").out == ran.out  # what is there is not trained again
    shell.assert_refused(*common, *choices, "q_proj", parts=["holds another training run (modules differ)"])
    shell.assert_refused(*common, parts=["(alpha, dropout, modules, train_embeddings differ)"])
    (shell.folder / "r" / "trained").rename(shell.folder / "lost")  # as after a kill: it would have to go on
    shell.assert_refused(*common, *choices, "q_proj", parts=["holds another training run (modules differ)"])
    events = [json.loads(line) for line in (shell.folder / "r" / "events.jsonl").read_text().splitlines()]
    last = [e["loss"] for e in events if e["kind"] == "validation"][-1]
    assert f"validation loss {last:.4f} " in ran.out  # the scorer reads back what the callback had


@pytest.mark.usefixtures("quick")
def test_learning_rates_start_from_the_same_weights_and_data(shell: Shell) -> None:
    pytest.importorskip("peft")
    from assay import models

    text = models.path("en.txt").read_text(encoding="utf-8").split("\n\n")
    shell.write("train.txt", "\n\n".join(text[:3]))
    shell.write("valid.txt", text[5])
    ran = shell(
        *("tune", "run", "--base", str(models.path("base")), "--train", "train.txt", "--valid", "valid.txt"),
        *("--context", "64", "--steps", "2", "--rows", "2", "--lrs", "1e-4,1e-2", "--every-quality", "0", "-o", "s"),
    )
    assert ran.exit_code == 0
    runs = sorted((shell.folder / "s").iterdir())
    assert [run.name for run in runs] == ["lr-0.0001", "lr-0.01"]
    first = [json.loads((run / "events.jsonl").read_text().splitlines()[0]) for run in runs]
    assert first[0]["loss"] == first[1]["loss"]
    steps = [
        [e for e in map(json.loads, (run / "events.jsonl").read_text().splitlines()) if e["kind"] == "step"]
        for run in runs
    ]
    assert steps[0][0]["loss"] == steps[1][0]["loss"]  # before the first update
    (found,) = tune(shell.folder / "s").sensitivity
    assert [point.rate for point in found.points] == [1e-4, 1e-2]


def test_the_outputs_of_two_trainers_are_two_arms(shell: Shell) -> None:
    history = [{"step": step, "loss": 3 - step / 100} for step in range(10, 121, 10)]
    state = json.dumps({"log_history": history, "global_step": 120, "max_steps": 120})
    for out in ("outA", "outB"):
        (shell.folder / out / "checkpoint-120").mkdir(parents=True)
        shell.write(f"{out}/checkpoint-120/trainer_state.json", state)
    for tail in ("", "/checkpoint-120", "/checkpoint-120/trainer_state.json"):
        ran = shell("tune", f"outA{tail}", f"outB{tail}")
        assert (ran.exit_code, ran.err) == (0, "")
        assert ran.out.startswith("Cannot say whether outA or outB is better: ")
        assert "outA is the baseline" in ran.out


def test_a_log_of_nan_beside_a_good_one_is_reported_and_drawn(shell: Shell) -> None:
    shell.write("bad.csv", "step,loss\n1,nan\n2,nan\n")
    shell.write("good.csv", "step,loss\n1,2.0\n2,1.0\n")
    ran = shell("tune", "bad.csv", "good.csv", "--chart", "c.svg")
    assert (ran.exit_code, ran.err) == (0, "Chart: c.svg\n")
    assert "bad diverged at step 1 (bad.csv)." in ran.out


def test_both_options_from_the_command_line(shell: Shell) -> None:
    path = trainer(Path("a/trainer_state.json"), eval_news_loss=[1.0] * 4, eval_code_loss=[2.4, 2.3, 2.2, 2.1])
    ran = shell("tune", str(path), "--validation", "code", "--language-model", "--targets", "japanese")
    assert ran.exit_code == 0
    assert "met (excellent" in ran.out
    shell.assert_refused("tune", str(path), "--validation", "x", exit_code=2, parts=["'x'", "news, code"])
