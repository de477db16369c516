"""The options that pick results of a harness, in `assay compare` and `assay certify`, on files that harnesses wrote."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from assay import Comparison, Selection, compare
from tests.cli.command import SCORES, Shell
from tests.data.readers.harness.logs import (
    ALPACA_EVAL,
    HELM,
    INSPECT,
    LARGE,
    LIGHTEVAL,
    LM_EVAL,
    RESPONSES,
    SMALL,
    read_json,
)

BOTH = [str(LM_EVAL / SMALL), str(LM_EVAL / LARGE)]
MODELS = ["--a", SMALL, "--b", LARGE]
HF_MODELS = ["--a", f"huggingface/{SMALL}", "--b", f"huggingface/{LARGE}"]

#: A command for each format, and the two means it must print, from the harness's own results or the mock's answers.
COMMANDS: dict[str, tuple[list[str], float, float]] = {
    "lm-eval folders": ([*BOTH, "--task", "tiny_sky", "--metric", "acc"], 3 / 8, 7 / 8),
    "lm-eval output": (
        [str(LM_EVAL), *MODELS, "--task", "tiny_sky", "--metric", "acc", "--filter", "none"],
        3 / 8,
        7 / 8,
    ),
    "lighteval": ([str(LIGHTEVAL), *MODELS, "--metric", "acc"], 7 / 16, 15 / 16),
    "inspect": ([str(INSPECT / "small.eval"), str(INSPECT / "large.eval"), "--scorer", "match"], 4 / 8, 6 / 8),
    "helm": (
        [str(HELM), *HF_MODELS, "--task", "tiny_choices", "--metric", "exact_match"],
        1 / 2,
        2 / 2,
    ),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_every_format_compares_with_one_command(shell: Shell, case: str) -> None:
    arguments, a, b = COMMANDS[case]
    ran = shell("compare", *arguments, "--json")
    assert (ran.exit_code, ran.err) == (0, "")
    found = Comparison.from_dict(json.loads(ran.out))
    assert [found.a, found.b] == pytest.approx([a, b])


def test_the_mean_that_lm_eval_prints_is_the_one_compared() -> None:
    for folder, mean in zip(BOTH, (3 / 8, 7 / 8), strict=True):
        [results] = Path(folder).glob("results_*.json")
        assert read_json(results)["results"]["tiny_sky"]["acc,none"] == mean


def test_rolling_tasks_are_losses_with_bits_per_byte(shell: Shell) -> None:
    found = Comparison.from_dict(json.loads(shell("compare", *BOTH, "--task", "tiny_stories", "--json").out))
    bits = found.sizes["bits_per_byte"]
    for folder, ours in zip(BOTH, (bits.a, bits.b), strict=True):
        [results] = Path(folder).glob("results_*.json")
        said = read_json(results)["results"]["tiny_stories"]["bits_per_byte,none"]
        assert ours == pytest.approx(said, rel=1e-12)


def test_the_library_takes_the_same_choices(shell: Shell) -> None:
    selection = Selection(task="tiny_choices", metric="acc")
    found = compare(*BOTH, selection=selection, cluster="topic")
    ran = shell("compare", *BOTH, "--task", "tiny_choices", "--metric", "acc", "--cluster", "topic")
    assert ran.out == f"{found}\n"
    assert found.n_clusters == 2


def test_what_is_paired_on_is_said(shell: Shell) -> None:
    ran = shell("compare", *BOTH, "--task", "tiny_sky", "--metric", "acc", "--json")
    said = "lm-eval, tiny_sky: metric acc, filter none; paired on doc_id, doc_hash compared"
    assert Comparison.from_dict(json.loads(ran.out)).notes[0] == said


def test_names_before_paths_name_the_systems(shell: Shell) -> None:
    log = INSPECT / "small.eval"
    found = json.loads(shell("compare", f"before={log}", f"after={log}", "--json").out)
    assert found["systems"] == {"a": "before", "b": "after"}
    same = json.loads(shell("compare", str(log), str(INSPECT / "small-deflate.eval"), "--json").out)
    # One model: its files tell them apart.
    assert same["systems"] == {"a": "small", "b": "small-deflate"}


def test_ambiguity_is_exit_code_3_and_lists_the_choices(shell: Shell) -> None:
    shell.assert_refused("compare", *BOTH, parts=["2 metrics (acc, acc_norm) of tiny_animals, tiny_sky", "--metric"])
    shell.assert_refused("compare", *BOTH, "--task", "tiny_sky", parts=["2 metrics (acc, acc_norm)", "--metric"])
    dummy = str(LM_EVAL / "dummy")
    shell.assert_refused("compare", dummy, dummy, parts=["2 runs of the task 'tiny_words'", "--newest"])
    shell.assert_refused("compare", dummy, dummy, "--newest", parts=["2 filters", "--filter"])
    both = [str(LIGHTEVAL), str(LIGHTEVAL), "--metric", "acc"]
    shell.assert_refused("compare", *both, parts=["2 models", SMALL, "--a or --b"])
    only = [str(LIGHTEVAL), "--metric", "acc", "--a", "stories", "--b", LARGE]
    shell.assert_refused("compare", *only, parts=["no model 'stories'", "did you mean"])


@pytest.mark.parametrize(
    "allowed", [["reference,annotator"], ["reference", "annotator"], ["annotator", "judge,reference"]]
)
def test_conditions_that_may_differ_are_named_together_or_one_by_one(shell: Shell, allowed: list[str]) -> None:
    two = [str(ALPACA_EVAL / "small-1b"), str(ALPACA_EVAL / "early-7b")]
    shell.assert_refused("compare", *two, parts=["--allow-different reference,annotator"])
    shell.assert_refused("compare", *two, "--allow-different", "reference", parts=["--allow-different annotator"])
    options = [part for names in allowed for part in ("--allow-different", names)]
    assert shell("compare", *two, *options).exit_code == 0


def test_a_format_that_the_file_has_not_is_refused_with_the_one_it_has(shell: Shell) -> None:
    path = str(ALPACA_EVAL.parent / "human_eval" / "small.jsonl_results.jsonl")
    shell.assert_refused(
        "summarize", path, "--format", "evalplus", parts=["not a file of EvalPlus", "human-eval; leave out --format"]
    )


def test_misuse_is_exit_code_2(shell: Shell) -> None:
    table = shell.write("t.csv", SCORES)
    shell.assert_refused("compare", table, table, "--metric", "acc", exit_code=2, parts=["--metric acc", "is a table"])
    shell.assert_refused(
        "compare", *BOTH, "--format", "csv", exit_code=2, parts=["format must be one of table, lm-eval"]
    )
    columns = ["--task", "tiny_sky", "--metric", "acc", "--columns", "score=acc"]
    shell.assert_refused("compare", *BOTH, *columns, exit_code=2, parts=["--columns", "--format table"])


def test_help_has_the_options_in_a_panel_of_their_own(shell: Shell) -> None:
    for verb in ("compare", "certify"):
        said = shell(verb, "--help").out
        assert "Harness files" in said
        assert all(option in said for option in ("--task", "--metric", "--filter", "--scorer", "--format", "--newest"))


@pytest.mark.parametrize(
    ("arguments", "code"),  # fewer than 20 losses or scores do not pass, unless the scores are 0/1
    [
        ([*BOTH, "--task", "tiny_choices", "--metric", "acc"], 0),
        ([*BOTH, "--task", "tiny_stories"], 1),
        ([f"small={INSPECT / 'small.eval'}", f"large={INSPECT / 'large.eval'}"], 1),
        ([str(LM_EVAL), *MODELS, "--task", "tiny_animals", "--metric", "acc_norm"], 0),
        ([str(RESPONSES / "base-echo.jsonl"), str(RESPONSES / "base-echo.jsonl")], 1),
    ],
)
def test_a_certificate_of_a_harness_s_results_is_true(shell: Shell, arguments: list[str], code: int) -> None:
    issued = shell("certify", *arguments, "-o", "c.json")
    assert (issued.exit_code, issued.err) == (code, "")
    checked = shell("verify", "c.json")
    assert (checked.exit_code, checked.err) == (code, "")
    assert "The certificate is true." in checked.out


def test_two_clusters_do_not_pass_a_gate_and_the_certificate_that_says_so_is_true(shell: Shell) -> None:
    issued = shell("certify", *BOTH, "--task", "tiny_choices", "--metric", "acc", "--cluster", "topic", "-o", "c.json")
    assert (issued.exit_code, issued.err) == (1, "")
    assert issued.out.startswith("Insufficient evidence")
    checked = shell("verify", "c.json")
    assert (checked.exit_code, checked.err) == (1, "")
    assert "The certificate is true." in checked.out


def test_a_certificate_names_the_files_by_their_digest(shell: Shell) -> None:
    log = INSPECT / "small.eval"
    shell("certify", f"x={log}", BOTH[0], "-o", "mixed.json")  # refused: nothing in common
    assert not Path("mixed.json").exists()
    shell("certify", f"x={log}", str(log), "-o", "one.json")
    systems = read_json(Path("one.json"))["systems"]
    whole = "sha256:" + hashlib.sha256(log.read_bytes()).hexdigest()
    assert (systems["baseline"]["name"], systems["baseline"]["file"]) == ("x", "small.eval")
    assert systems["baseline"]["sha256"] == systems["subject"]["sha256"] == whole
    shell("certify", *BOTH, "--task", "tiny_choices", "--metric", "acc", "-o", "many.json")
    files = [path for task in ("animals", "sky") for path in Path(BOTH[0]).glob(f"samples_tiny_{task}*")]
    digests = sorted("sha256:" + hashlib.sha256(path.read_bytes()).hexdigest() for path in files)
    together = "sha256:" + hashlib.sha256("\n".join(digests).encode()).hexdigest()
    assert read_json(Path("many.json"))["systems"]["baseline"]["sha256"] == together


def test_a_lower_metric_is_judged_as_lower_in_the_certificate_too(shell: Shell) -> None:
    for model in (SMALL, LARGE):
        shutil.copytree(LM_EVAL / model, model)
        [results] = Path(model).glob("results_*.json")
        found = read_json(results)
        found["higher_is_better"]["tiny_sky"]["acc"] = False
        results.write_text(json.dumps(found))
    ran = shell("certify", SMALL, LARGE, "--task", "tiny_sky", "--metric", "acc")
    assert ran.exit_code == 1
    assert read_json(Path("certificate.json"))["primary_metric"]["lower_is_better"] is True
    assert shell("verify", "certificate.json").exit_code in (0, 1)


@pytest.mark.parametrize("verb", ["compare", "summarize", "rank"])
def test_files_of_one_cluster_are_refused_with_what_to_type(verb: str, shell: Shell) -> None:
    rows = "".join(f"q{i},{i % 2},c\n" for i in range(40))
    files = [shell.write(name, "item,score,cluster\n" + rows) for name in ("a.csv", "b.csv")]
    shell.assert_refused(verb, *files, parts=["all 40 items are in one cluster", "--columns cluster=, "])
    assert shell(verb, *files, "--columns", "cluster=").exit_code == 0
