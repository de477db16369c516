"""`assay survey`: a summary on stdout, survey.json in a folder, refusals as one line."""

import json
from pathlib import Path

from assay.analyses.survey import survey
from assay.analyses.survey.result import SurveyReport
from assay.examples import SURVEY, copy_survey
from tests.cli.command import Shell
from tests.data.survey.surveys import result, truth_of, write
from tests.data.survey.surveys import survey as small

CORE = "scores,baselines,noise,pairs"


def test_the_file_is_the_record_of_the_library(shell: Shell) -> None:
    copy_survey(".")
    ran = shell("survey", "survey.json", "predictions.csv", "--prior", "prior.json", "--only", CORE, "-o", "out")
    assert ran.exit_code == 0
    assert "Written: out/survey.json" in ran.err
    found = SurveyReport.from_dict(json.loads(Path("out/survey.json").read_text("utf-8")))
    assert found == survey("survey.json", "predictions.csv", prior="prior.json", only=CORE.split(","))
    assert ran.out.startswith(found.sentence)
    assert all(said.text in ran.out for said in found.statements)


def test_json_and_full_text(shell: Shell) -> None:
    copy_survey(".")
    arguments = ("survey", "survey.json", "predictions.csv", "--only", "scores")
    assert SurveyReport.from_dict(json.loads(shell(*arguments, "--json").out)).models == (
        "logit",
        "marginal",
        "raw",
        "smoothed",
    )
    assert "sd of segments" in shell(*arguments).out


def test_result_files_of_a_folder(shell: Shell) -> None:
    write(shell.folder, "survey.json", small())
    for i in range(120):
        segment = ["age:young", "age:old", "town"][i % 3]
        answers = {
            q: {"a": str(truth_of(segment, q)), "b": str([1] * len(truth_of(segment, q)))} for q in ("q1", "q2", "q3")
        }
        write(shell.folder, f"results/{i:03d}.json", result(segment, answers, time=f"t{i:03d}"))  # type: ignore[arg-type]
    ran = shell("survey", "survey.json", "results", "--only", "scores,baselines,pairs")
    assert ran.exit_code == 0
    assert ran.err == ""
    assert "The best of 2 models, a, scores 1.000" in ran.out


def test_bad_input_and_usage_are_refused(shell: Shell) -> None:
    copy_survey(".")
    shell.assert_refused("survey", "survey.json", "none.json", parts=["none.json", "no such file"])
    shell.assert_refused("survey", "none.json", "predictions.csv", parts=["none.json"])
    shell.assert_refused(
        "survey", "survey.json", "predictions.csv", "--only", "all", exit_code=2, parts=["--only", "'all'"]
    )
    shell.assert_refused("survey", "survey.json", "predictions.csv", "--level", "7", exit_code=2, parts=["level"])
    shell.assert_refused(
        "survey", "survey.json", "predictions.csv", "--min-n", "5000", parts=["every segment", "--min-n"]
    )
    Path("file").write_text("")
    shell.assert_refused(
        "survey", "survey.json", "predictions.csv", "--only", "scores", "-o", "file/x", parts=["file/x"]
    )


def test_coarser_segments(shell: Shell, tmp_path: Path) -> None:
    paths = str(SURVEY / "survey.json"), str(SURVEY / "predictions.csv")
    mapping = tmp_path / "coarser.csv"
    mapping.write_text("segment,into\nplace:small,place:not large\nplace:medium,place:not large\n", encoding="utf-8")
    ran = shell("survey", *paths, "--merge", str(mapping), "--only", "scores,intervals", "--by", "category")
    assert ran.exit_code == 0
    assert "2 segments merged into 1: respondents added" in ran.out
    assert "Intervals: by category" in ran.out
    mapping.write_text("segment,into\nplace:tiny,x\n", encoding="utf-8")
    ran = shell("survey", *paths, "--merge", str(mapping))
    assert ran.exit_code == 3
    assert "line 2" in ran.err
    assert "no segment 'place:tiny'" in ran.err
