"""Which column is which. The expected answers are read off the issue: names, mappings, slips of the pen."""

import pytest

from assay.data import Kind, read_table
from assay.errors import InputError, UsageError
from tests.data.files import assert_refused

LOSSES = {"window": ["w"], "tokens": [5], "loss": [1.5]}
SCORES = {"item": ["q"], "score": [0.5]}


@pytest.mark.parametrize(("table", "kind"), [(LOSSES, "losses"), (SCORES, "scores")])
def test_the_kind_is_known_by_the_columns(table: dict[str, list[object]], kind: Kind) -> None:
    assert read_table(table).kind == kind


def test_both_kinds_are_refused_unless_said_which() -> None:
    both = LOSSES | SCORES
    assert_refused(
        both, "the table", "both losses", "scores", "window, tokens, loss, item, score", "`columns={'score': 'score'}`"
    )
    assert read_table(both, kind="scores").kind == "scores"
    assert read_table(both, columns={"loss": "loss"}).kind == "losses"


def test_neither_kind_lists_what_is_there_and_what_is_needed() -> None:
    parts = ("window, tokens, loss", "item, score", "key, points", "`columns={'item': 'NAME', 'score': 'NAME'}`")
    assert_refused({"key": ["q"], "points": [1]}, "the table", *parts)


def test_a_misspelt_required_column_is_suggested() -> None:
    table = {"window": ["w"], "tokns": [5], "loss": [1.5]}
    assert_refused(table, "no column tokens", "window, tokns, loss", "did you mean `columns={'tokens': 'tokns'}`?")


@pytest.mark.parametrize(
    ("table", "misspelt", "meant"),
    [
        (SCORES, "cluser", "cluster"),
        (SCORES, "Clusters", "cluster"),
        (SCORES, "wieght", "weight"),
        (SCORES, "runs", "run"),
        (SCORES, "modell", "model"),
        (LOSSES, "spilt", "split"),
        (LOSSES, "char", "chars"),
        (LOSSES, "docment", "document"),
    ],
)
def test_a_misspelt_optional_column_is_refused_not_ignored(
    table: dict[str, list[object]], misspelt: str, meant: str
) -> None:
    wrong = table | {misspelt: ["7"]}
    assert_refused(
        wrong, f"unknown column {misspelt!r}", f"`columns={{{meant!r}: {misspelt!r}}}`", f"`columns={{{meant!r}: ''}}`"
    )
    assert read_table(wrong, columns={meant: ""}).notes == (f"the table: columns not used: {misspelt}",)


def test_a_column_like_ours_is_no_slip_where_ours_is_there_too() -> None:
    table = read_table(SCORES | {"cluster": ["c"], "clusters": ["d"]})
    assert table.labels["cluster"].names == ("c",)
    assert table.notes == ("the table: columns not used: clusters",)


def test_other_columns_are_named_in_the_notes() -> None:
    assert read_table(SCORES | {"prompt": ["p"], "lang": ["ja"]}).notes == (
        "the table: columns not used: prompt, lang",
    )


def test_a_mapping_reads_other_names() -> None:
    table = read_table(
        {"id": ["q"], "acc": [0.25], "topic": ["t"]}, columns={"score": "acc", "item": "id", "cluster": "topic"}
    )
    assert (table.ids[0], table.numbers["score"][0], table.labels["cluster"].names) == ("q", 0.25, ("t",))


def test_a_mapped_column_is_not_also_read_under_its_own_name() -> None:
    table = read_table({"item": ["q"], "loss": [1.5], "score": [9.0]}, columns={"score": "loss"})
    assert (table.kind, table.numbers["score"][0]) == ("scores", 1.5)


def test_a_mapping_to_a_column_that_is_not_there_is_refused() -> None:
    assert_refused(
        SCORES,
        "no column 'scor' for 'score'",
        "item, score",
        "`columns={'score': 'score'}`?",
        columns={"score": "scor"},
    )
    assert_refused(SCORES, "no column 'xyz'", "name one of them", columns={"score": "xyz"})


@pytest.mark.parametrize("key", ["acc", "scores", ""])
def test_a_mapping_from_a_name_that_is_not_ours_is_refused(key: str) -> None:
    with pytest.raises(UsageError, match="`columns` must name one of window, tokens, loss"):
        read_table(SCORES, columns={key: "score"})


def test_a_mapping_for_the_other_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="use `cluster='doc'` instead"):
        read_table(LOSSES | {"doc": ["d"]}, columns={"cluster": "doc"})


def test_a_column_that_is_there_twice_is_refused(tmp_path: pytest.TempPathFactory) -> None:
    path = tmp_path / "a.csv"  # type: ignore[operator]
    path.write_text("item,score,score,,\nq,1,2,,\n")
    assert_refused(path, str(path), "2 columns are called 'score'", "rename")


def test_any_column_can_hold_the_clusters() -> None:
    table = read_table(SCORES | {"topic": ["t"]}, cluster="topic")
    assert (table.cluster_by, table.labels["topic"].names, table.notes) == ("topic", ("t",), ())
    assert read_table(LOSSES | {"document": ["d"]}, cluster="document").cluster_by == "document"
    assert read_table(LOSSES | {"doc": ["d"]}, columns={"document": "doc"}, cluster="document").cluster_by == "document"


def test_a_cluster_column_that_is_not_there_is_refused() -> None:
    assert_refused(SCORES | {"topic": ["t"]}, "no column 'topics' to cluster by", "`cluster='topic'`", cluster="topics")
    assert_refused(SCORES, "no column 'zzz' to cluster by", "name one of them", cluster="zzz")


def test_a_cluster_column_of_scores_is_used_unasked() -> None:
    assert read_table(SCORES | {"cluster": ["c"]}).cluster_by == "cluster"
    assert read_table(SCORES | {"cluster": ["c"]}, columns={"cluster": ""}).cluster_by is None


def test_an_unknown_kind_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="kind must be one of losses, scores"):
        read_table(SCORES, kind="points")  # type: ignore[arg-type]


def test_required_columns_cannot_be_left_out() -> None:
    with pytest.raises(InputError, match="no column score"):
        read_table(SCORES, columns={"score": ""})
