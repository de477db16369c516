"""`assay compare`: results on stdout, refusals as one line on stderr with their exit code."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Comparison, Design, UsageError, compare
from assay.cli.output import json_lines
from tests.cli.command import LOSSES, SCORES, Shell

# ------------------------------------------------------------------------------------------------------------- refusals

#: What a file holds, and what the message must name. Every case of issue 2, section 2.
BAD_LOSSES: dict[str, tuple[str, list[str]]] = {
    "duplicated id": (LOSSES + "w2,256,1\n", ["line 5", "'window'", "'w2'", "line 3"]),
    "unknown column": ("windo,tokens,loss\nw1,5,1\n", ["no column window", "--columns window=windo"]),
    "missing column": ("window,loss\nw1,1\n", ["no column tokens", "--columns tokens=NAME"]),
    "not a number": ("window,tokens,loss\nw1,512,3.5\nw2,256,high\n", ["line 3", "'loss'", "'high'", "not a number"]),
    "decimal comma": ('window,tokens,loss\nw1,512,"3,5"\n', ["line 2", "'loss'", "'3,5'", "point"]),
    "empty cell": ("window,tokens,loss\nw1,512,\n", ["line 2", "'loss'", "empty"]),
    "NaN loss": ("window,tokens,loss\nw1,512,nan\n", ["line 2", "'loss'", "finite", "nan"]),
    "infinite loss": ("window,tokens,loss\nw1,512,1\nw2,256,inf\n", ["line 3", "'loss'", "finite", "inf"]),
    "minus infinite loss": ("window,tokens,loss\nw1,512,-inf\n", ["line 2", "'loss'", "finite", "-inf"]),
    "negative loss": ("window,tokens,loss\nw1,512,-3.5\n", ["line 2", "'loss'", "negative", "-3.5"]),
    "zero tokens": ("window,tokens,loss\nw1,0,3.5\n", ["line 2", "'tokens'", "at least 1", "'0'"]),
    "negative tokens": ("window,tokens,loss\nw1,-5,3.5\n", ["line 2", "'tokens'", "at least 1", "'-5'"]),
    "half a token": ("window,tokens,loss\nw1,5.5,3.5\n", ["line 2", "'tokens'", "whole number", "'5.5'"]),
    "header only": ("window,tokens,loss\n", ["no rows"]),
    "empty file": ("", ["empty"]),
    "ragged row": ("window,tokens,loss\nw1,512,3.5,7\n", ["line 2", "4 cells", "3 columns"]),
    "unknown split": ("window,tokens,loss,split\nw1,5,1,test\n", ["line 2", "'split'", "preview or final", "'test'"]),
}


@pytest.mark.parametrize("case", BAD_LOSSES)
@pytest.mark.parametrize("place", ["first", "second"])
def test_a_bad_file_is_refused_in_one_line_that_names_it(shell: Shell, case: str, place: str) -> None:
    text, parts = BAD_LOSSES[case]
    good, bad = shell.write("good.csv", LOSSES), shell.write("bad.csv", text)
    files = (bad, good) if place == "first" else (good, bad)
    shell.assert_refused("compare", *files, parts=["bad.csv", *parts])


@pytest.mark.parametrize("case", ["NaN loss", "negative loss", "zero tokens", "duplicated id"])
@pytest.mark.parametrize("extension", ["tsv", "jsonl"])
def test_a_bad_file_is_refused_in_any_format(shell: Shell, case: str, extension: str) -> None:
    text, parts = BAD_LOSSES[case]
    header, *rows = [line.split(",") for line in text.splitlines()]
    if extension == "tsv":
        text = "\n".join("\t".join(cells) for cells in [header, *rows]) + "\n"
    else:
        records = [
            {name: cell if name == "window" else float(cell) for name, cell in zip(header, row, strict=True)}
            for row in rows
        ]
        text = "\n" + "".join(json.dumps(record) + "\n" for record in records)  # in the lines of the CSV file
    bad = shell.write(f"bad.{extension}", text)
    shell.assert_refused("compare", shell.write("good.csv", LOSSES), bad, parts=[f"bad.{extension}", *parts[:2]])


BAD_SCORES: dict[str, tuple[str, list[str]]] = {
    "duplicated id": (SCORES + "q1,1\n", ["line 5", "'item'", "'q1'", "line 2", "'run'"]),
    "not a number": ("item,score\nq1,good\n", ["line 2", "'score'", "'good'", "not a number"]),
    "infinite score": ("item,score\nq1,1\nq2,inf\n", ["line 3", "'score'", "finite"]),
    "zero weight": ("item,score,weight\nq1,1,0\n", ["line 2", "'weight'", "positive", "'0'"]),
    "neither losses nor scores": (
        "name,value\nx,1\n",
        ["name, value", "losses need window, tokens, loss", "scores need item, score"],
    ),
}


@pytest.mark.parametrize("case", BAD_SCORES)
def test_bad_scores_are_refused(shell: Shell, case: str) -> None:
    text, parts = BAD_SCORES[case]
    shell.assert_refused(
        "compare", shell.write("bad.csv", text), shell.write("b.csv", SCORES), parts=["bad.csv", *parts]
    )


def test_token_counts_that_differ_between_the_arms_are_refused(shell: Shell) -> None:
    a, b = shell.write("a.csv", LOSSES), shell.write("b.csv", LOSSES.replace("w2,256", "w2,255"))
    shell.assert_refused("compare", a, b, parts=["a.csv", "b.csv", "line 3", "'tokens'", "'w2'", "256", "255"])


def test_a_truncated_parquet_is_refused(shell: Shell) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT 'w' || i AS window, 5 AS tokens, 1.5 AS loss FROM range(1000) t(i)) TO 'a.parquet'"
        )
    data = Path("a.parquet").read_bytes()
    Path("cut.parquet").write_bytes(data[: len(data) // 2])
    shell.assert_refused("compare", "a.parquet", "cut.parquet", parts=["cut.parquet", "Parquet"])
    assert shell("compare", "a.parquet", "a.parquet").exit_code == 0


def test_a_directory_is_refused(shell: Shell) -> None:
    Path("folder.csv").mkdir()
    shell.assert_refused("compare", shell.write("a.csv", SCORES), "folder.csv", parts=["folder.csv", "folder"])


def test_a_missing_file_is_refused_with_the_nearest_name(shell: Shell) -> None:
    a = shell.write("results-a.csv", SCORES)
    shell.write("results-b.csv", SCORES)
    shell.assert_refused("compare", a, "result-b.csv", parts=["result-b.csv", "no such file", "'results-b.csv'"])


def test_ids_that_have_nothing_in_common_are_refused(shell: Shell) -> None:
    a, b = shell.write("a.csv", SCORES), shell.write("b.csv", SCORES.replace("q", "item "))
    shell.assert_refused("compare", a, b, parts=["a.csv", "b.csv", "'q1'", "'item 1'", "--columns item="])


def test_losses_against_scores_are_refused(shell: Shell) -> None:
    a, b = shell.write("a.csv", SCORES), shell.write("b.csv", LOSSES)
    shell.assert_refused("compare", a, b, parts=["a.csv holds scores", "b.csv holds losses"])


def test_strict_refuses_what_is_otherwise_dropped_and_reported(shell: Shell) -> None:
    a, b = shell.write("a.csv", SCORES), shell.write("b.csv", SCORES + "q4,1\nq5,0\n")
    ran = shell("compare", a, b)
    assert ran.exit_code == 0
    assert "2 not paired (0 only in A, 2 only in B): q4, q5" in ran.out
    shell.assert_refused(
        "compare", a, b, "--missing", "refuse", parts=["2 items do not pair", "'q4', 'q5'", "--missing"]
    )


MODELS = "item,score,model\nq1,1,x\nq2,0,x\nq1,1,y\nq2,1,y\n"


def test_several_models_in_one_file(shell: Shell) -> None:
    both = shell.write("both.csv", MODELS)
    ran = shell("compare", both, "--a", "x", "--b", "y", "--json")
    data = json.loads(ran.out)
    assert (data["systems"], data["a"], data["b"]) == ({"a": "x", "b": "y"}, 0.5, 1.0)
    two = json.loads(shell("compare", both, both, "--a", "y", "--b", "x", "--json").out)
    assert two["systems"] == {"a": "y", "b": "x"}


def test_an_unknown_model_is_refused_with_the_nearest_name(shell: Shell) -> None:
    both = shell.write("both.csv", MODELS.replace(",y\n", ",llama-70b\n"))
    parts = ["both.csv", "'llama-7b'", "x", "did you mean 'llama-70b'?"]
    shell.assert_refused("compare", both, "--a", "x", "--b", "llama-7b", parts=parts)


def test_several_models_without_a_choice_are_refused(shell: Shell) -> None:
    both, one = shell.write("both.csv", MODELS), shell.write("one.csv", SCORES)
    shell.assert_refused("compare", both, one, parts=["both.csv", "2 models", "x, y"])
    shell.assert_refused("compare", one, one, "--a", "x", "--b", "y", parts=["one.csv", "'model'", "'x'"])


def test_one_file_without_names_is_a_matter_of_usage(shell: Shell) -> None:
    one = shell.write("one.csv", SCORES)
    shell.assert_refused("compare", one, exit_code=2, parts=["two files", "--a NAME --b NAME"])
    shell.assert_refused("compare", one, "--a", "x", exit_code=2, parts=["--a NAME --b NAME"])


# ------------------------------------------------------------------------------------------------------------- options

BAD_OPTIONS: list[tuple[list[str], list[str]]] = [
    (["--level", "95"], ["level", "95", "0.95"]),
    (["--level", "abc"], ["--level", "number"]),
    (["--level", "nan"], ["level", "nan"]),
    (["--method", "bayes"], ["--method", "'bayes'", "'bca'"]),
    (["--scheme", "rows"], ["--scheme", "'rows'", "'windows'"]),
    (["--test", "z"], ["--test", "'z'", "'wilcoxon'"]),
    (["--split", "test"], ["--split", "'test'", "'preview'"]),
    (["--resamples", "10"], ["resamples", "at least 100", "10"]),
    (["--resamples", "999999999999"], ["resamples", "at most 1,000,000", "999999999999"]),
    (["--resamples", "1e4"], ["--resamples", "integer"]),
    (["--seed", "-1"], ["seed", "-1"]),
    (["--seed", "1.5"], ["--seed", "integer"]),
    (["--margin", "-0.1"], ["margin", "positive", "-0.1"]),
    (["--margin", "0"], ["margin", "positive"]),
    (["--margin", "inf"], ["margin", "finite"]),
    (["--columns", "score"], ["--columns", "score=acc,item=id", "'score'"]),
    (["--columns", "points=acc"], ["points"]),
    (["--columns", "score=a,score=b"], ["'score'", "twice"]),
    (["--test", "mcnemar"], ["mcnemar", "0/1", "sign-flip"]),
    (["--bogus"], ["--bogus"]),
    (["--level"], ["--level"]),
    (["third.csv"], ["third.csv"]),
]


@pytest.mark.parametrize(("options", "parts"), BAD_OPTIONS, ids=[" ".join(options) for options, _ in BAD_OPTIONS])
def test_a_bad_option_is_one_line_and_exit_2(shell: Shell, options: list[str], parts: list[str]) -> None:
    a = shell.write("a.csv", SCORES.replace("q2,0", "q2,0.5"))
    shell.assert_refused("compare", a, a, *options, exit_code=2, parts=parts)


def test_no_pair_at_all_is_refused_and_nothing_is_written(shell: Shell) -> None:
    a, b = shell.write("a.csv", SCORES), shell.write("b.csv", SCORES.replace("q", "p"))
    saved = shell.folder / "found.json"
    shell.assert_refused("compare", a, b, "--save", str(saved), parts=["no item is in every table", "'q", "'p"])
    assert not saved.exists()


def test_numbers_near_the_smallest_print_whole_json(shell: Shell) -> None:
    rows = "".join(f"q{i},{i % 7}e-320\n" for i in range(30))
    a = shell.write("a.csv", "item,score\n" + rows)
    b = shell.write("b.csv", "item,score\n" + rows.replace(",3e", ",9e").replace(",5e", ",4e"))
    data = json.loads(shell("compare", a, b, "--json").out)
    assert all(effect["value"] is not None for effect in data["effect_sizes"].values())


def test_a_column_that_is_mapped_to_none_of_the_file_is_refused(shell: Shell) -> None:
    a = shell.write("a.csv", SCORES)
    shell.assert_refused("compare", a, a, "--columns", "score=acc", parts=["a.csv", "'acc'"])


def test_an_unknown_cluster_column_is_refused(shell: Shell) -> None:
    a = shell.write("a.csv", SCORES)
    shell.assert_refused("compare", a, a, "--cluster", "passage", parts=["a.csv", "'passage'"])


def test_a_split_of_a_file_without_splits_is_refused(shell: Shell) -> None:
    a = shell.write("a.csv", LOSSES)
    shell.assert_refused("compare", a, a, "--split", "final", parts=["a.csv", "'split'", "'final'"])


# -------------------------------------------------------------------------------------------------------------- results


def results(shell: Shell) -> tuple[str, str]:
    rows = [(f"q{i}", i * 37 % 101 / 100, (i * 37 + 5 * (i % 7)) % 101 / 100, f"p{i % 13}") for i in range(60)]
    a = "".join(f"{item},{x},{passage}\n" for item, x, _, passage in rows)
    b = "".join(f"{item},{y},{passage}\n" for item, _, y, passage in rows)
    return shell.write("a.csv", "id,acc,passage\n" + a), shell.write("b.csv", "id,acc,passage\n" + b)


def test_the_text_is_the_result_of_the_library_and_stderr_is_silent(shell: Shell) -> None:
    a, b = results(shell)
    ran = shell("compare", a, b, "--columns", "score=acc,item=id")
    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out == f"{compare(a, b, columns={'score': 'acc', 'item': 'id'})}\n"


def test_json_is_the_result_of_the_library(shell: Shell) -> None:
    a, b = results(shell)
    ran = shell("compare", a, b, "--columns", "score=acc,item=id", "--json")
    assert (ran.exit_code, ran.err) == (0, "")
    expected = compare(a, b, columns={"score": "acc", "item": "id"})
    assert json.loads(ran.out) == expected.to_dict()
    assert Comparison.from_dict(json.loads(ran.out)) == expected


def test_every_option_reaches_the_library(shell: Shell) -> None:
    a, b = results(shell)
    options = "--columns score=acc,item=id --cluster passage --lower-is-better --method percentile --level 0.9"
    more = "--scheme windows --resamples 400 --seed 9 --test wilcoxon --margin 0.2 --json"
    ran = shell("compare", a, b, *options.split(), *more.split())
    design = Design(
        method="percentile", level=0.9, scheme="windows", resamples=400, seed=9, test="wilcoxon", margin=0.2
    )
    columns = {"score": "acc", "item": "id"}
    expected = compare(a, b, columns=columns, cluster="passage", lower_is_better=True, design=design)
    assert Comparison.from_dict(json.loads(ran.out)) == expected
    assert expected.n_clusters == 13


def test_json_without_ascii_names_is_readable(shell: Shell) -> None:
    a = shell.write("基準.csv", SCORES)
    b = shell.write("量子化.csv", SCORES.replace("q2,0", "q2,1"))
    ran = shell("compare", a, b, "--json")
    assert '"a": "基準"' in ran.out
    assert json.loads(ran.out)["systems"] == {"a": "基準", "b": "量子化"}


@pytest.mark.parametrize("extension", ["csv", "tsv", "jsonl", "parquet"])
def test_every_format_gives_the_same_bits(shell: Shell, extension: str) -> None:
    a = shell.write("a.csv", LOSSES)
    b = shell.write("b.csv", LOSSES.replace("3.5", "3.625"))
    kinds = {"csv": "CSV", "tsv": "CSV, DELIMITER '\t'", "jsonl": "JSON", "parquet": "PARQUET"}
    with duckdb.connect() as connection:
        for name in ("a", "b"):
            target = f"other-{name}.{extension}"
            connection.execute(f"COPY (FROM '{name}.csv') TO '{target}' (FORMAT {kinds[extension]})")
    expected = json.loads(shell("compare", a, b, "--json").out)
    found = json.loads(shell("compare", f"other-a.{extension}", f"other-b.{extension}", "--json").out)
    for key in ("difference", "ratio", "p_value", "effect_sizes", "signature"):
        assert found[key] == expected[key]


PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_in_lines_is_read_back_as_it_was(data: Any) -> None:
    assert json.loads(json_lines(data)) == data


def test_a_list_of_plain_values_takes_one_line() -> None:
    assert json_lines({"a": [1, 2], "b": [{"c": []}]}).splitlines() == [
        "{",
        '  "a": [1, 2],',
        '  "b": [',
        "    {",
        '      "c": []',
        "    }",
        "  ]",
        "}",
    ]


ATTEMPTS = "task_id,passed\n" + "".join(f"t{i},{(i + k) % 3 > 0}\n" for i in range(12) for k in range(3))


def test_rows_of_one_item_are_attempts_where_attempts_are_asked_for(shell: Shell) -> None:
    files = [shell.write(name, ATTEMPTS) for name in ("a.csv", "b.csv")]
    ran = shell("compare", *files, "--at", "2")
    assert ran.exit_code == 0
    assert "no column run: rows of one item are attempts at it, in the order of the file" in ran.out
    shell.assert_refused("compare", *files, parts=["'t0' is in line 2 already", "with --at 1 (summarize, compare)."])


def test_several_numbers_of_attempts_are_refused_with_what_to_run_instead(shell: Shell) -> None:
    files = [shell.write(name, ATTEMPTS) for name in ("a.csv", "b.csv")]
    several = (
        "--at must be one number, but got '1,3': one comparison has one verdict. Run it with --at 1, then with --at 3"
    )
    shell.assert_refused("compare", *files, "--at", "1,3", exit_code=2, parts=[several])
    word = "--at must be a whole number, the attempts at an item, but got 'all'."
    shell.assert_refused("compare", *files, "--at", "all", exit_code=2, parts=[word])
    with pytest.raises(UsageError, match=r"compare takes one number of attempts as `at`, but got \[1, 3\]"):
        compare("a.csv", "b.csv", at=[1, 3])  # type: ignore[arg-type]
