"""Tables of generations: what is read, and one line for whatever cannot be used."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from assay.data.generations import read_generations, read_prompts
from assay.errors import InputError, UsageError

TABLE = {"item": ["b", "a"], "prediction": ["犬", "猫"], "reference": ["犬。", "猫。"]}


def test_rows_are_sorted_by_item_whatever_the_format(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("item,prediction,reference\nb,犬,犬。\na,猫,猫。\n", encoding="utf-8")
    (tmp_path / "x.tsv").write_text("item\tprediction\treference\nb\t犬\t犬。\na\t猫\t猫。\n", encoding="utf-8")
    lines = [json.dumps(dict(zip(TABLE, row, strict=True))) for row in zip(*TABLE.values(), strict=True)]
    (tmp_path / "x.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for source in (TABLE, *tmp_path.iterdir()):
        (found,) = read_generations([source])
        assert (found.items, found.predictions, found.references) == (("a", "b"), ("猫", "犬"), ("猫。", "犬。"))
        assert found.clusters is None


def test_a_file_of_several_models_is_several_systems_in_its_order(tmp_path: Path) -> None:
    table = {name: values * 2 for name, values in TABLE.items()} | {"model": ["z", "z", "m", "m"]}
    assert [system.name for system in read_generations([table])] == ["z", "m"]
    path = tmp_path / "t.csv"
    path.write_text("item,prediction,reference\na,b,c\n")
    assert [system.name for system in read_generations([path])] == ["t"]
    assert [system.name for system in read_generations([f"new={path}"])] == ["new"]


def test_columns_may_have_other_names_and_optional_ones_be_left_out() -> None:
    table = {"id": ["1"], "out": ["猫"], "gold": ["犬"], "model": ["m"], "doc": ["d"]}
    names = {"item": "id", "prediction": "out", "reference": "gold", "cluster": "doc"}
    (found,) = read_generations([table], columns=names)
    assert (found.name, found.references, found.clusters) == ("m", ("犬",), ("d",))
    assert read_generations([table], columns=names | {"model": ""})[0].name != "m"


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"prediction": ["", "猫"]}, ["row 1", "'prediction'", "empty", "`allow_empty=True`"]),
        ({"prediction": [None, "猫"]}, ["row 1", "'prediction'", "empty"]),
        ({"prediction": ["犬", math.nan]}, ["row 2", "'prediction'", "empty"]),
        ({"prediction": ["犬", "NaN"]}, ["row 2", "'prediction'", "missing number"]),
        ({"reference": ["犬。", " "]}, ["row 2", "'reference'", "empty"]),
        ({"reference": ["犬\ud83d", "猫"]}, ["row 1", "'reference'", "character 2", "unpaired surrogate", "U+D83D"]),
        ({"prediction": ["\udc00", "猫"]}, ["row 1", "character 1", "unpaired surrogate"]),
        ({"item": ["a", "a"]}, ["row 2", "'a' is in row 1 already", "'model'"]),
        ({"item": ["", "a"]}, ["row 1", "'item'", "empty"]),
        ({"item": [], "prediction": [], "reference": []}, ["no rows"]),
    ],
)
def test_cells_that_cannot_be_used_are_refused(change: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        read_generations([TABLE | change])
    assert [part for part in parts if part not in str(refused.value)] == [], refused.value
    assert "\n" not in str(refused.value)


def test_an_escaped_surrogate_in_jsonl_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"item": "a", "prediction": "\\ud83d", "reference": "b"}\n')
    with pytest.raises(InputError, match=r"x\.jsonl") as refused:
        read_generations([path])
    assert "\n" not in str(refused.value)


def test_an_empty_prediction_may_be_allowed() -> None:
    (found,) = read_generations([TABLE | {"prediction": ["", "猫"]}], allow_empty=True)
    assert found.predictions == ("猫", "")


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"item": ["b", "c"]}, ["item 'a' (and 1 more)", "first only"]),
        ({"reference": ["犬。", "鳥。"]}, ["item 'a'", "two references", "'猫。' and '鳥。'"]),
        ({"cluster": ["x", "y"]}, ["clusters"]),
        ({"model": ["one", "one"]}, ["several systems are called 'one'", "new=FILE"]),
    ],
)
def test_systems_that_do_not_pair_are_refused(change: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        read_generations([TABLE | {"model": ["one", "one"]}, TABLE | {"model": ["two", "two"]} | change])
    assert [part for part in parts if part not in str(refused.value)] == [], refused.value


def test_columns_and_names_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"no column 'prediction'.*did you mean `columns={'prediction': 'predictions'}`\?"
    ):
        read_generations([{"item": ["a"], "predictions": ["b"], "reference": ["c"]}])
    with pytest.raises(InputError, match=r"no column 'gold'"):
        read_generations([TABLE], columns={"reference": "gold"})
    with pytest.raises(InputError, match=r"no column 'system'"):
        read_generations([TABLE], columns={"model": "system"})
    with pytest.raises(UsageError, match=r"did you mean 'prediction'\?"):
        read_generations([TABLE], columns={"predicted": "x"})
    with pytest.raises(UsageError, match="needs a table"):
        read_generations([])
    path = tmp_path / "t.csv"
    path.write_text("item,prediction,reference,model\na,b,c,x\na,b,c,y\n")
    with pytest.raises(UsageError, match=r"new=… names one system, but .* holds 2: x, y"):
        read_generations([f"new={path}"])


# -------------------------------------------------------------------------------------------------------------- prompts


def test_prompts_whatever_the_format(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("item,prompt,reference\nb,犬,犬。\na,猫,猫。\n", encoding="utf-8")
    (tmp_path / "x.jsonl").write_text(
        '{"prompt": "犬", "id": "b", "reference": "犬。"}\n{"id": "a", "prompt": "猫", "reference": "猫。"}\n'
    )
    table = {"prompt": ["犬", "猫"], "reference": ["犬。", "猫。"], "item": ["b", "a"]}
    found = [read_prompts(source) for source in (*sorted(tmp_path.iterdir()), table)]
    for one in found:
        assert (one.items, one.texts, one.references) == (("b", "a"), ("犬", "猫"), ("犬。", "猫。"))
        assert (one.clusters, len(one), one.digest) == (None, 2, found[0].digest)


def test_prompts_need_no_more_than_prompts() -> None:
    bare = read_prompts({"prompt": ["x", "y"]})
    assert (bare.items, bare.references) == (("1", "2"), None)
    named = read_prompts(
        {"q": ["x"], "a": ["y"], "n": ["7"], "doc": ["d"]},
        columns={"prompt": "q", "reference": "a", "item": "n", "cluster": "doc"},
    )
    assert (named.items, named.texts, named.references, named.clusters) == (("7",), ("x",), ("y",), ("d",))
    digests = {
        read_prompts(table).digest
        for table in (
            {"prompt": ["xy"]},
            {"prompt": ["x", "y"]},
            {"prompt": ["xy"], "reference": ["xy"]},
            {"prompt": ["xy"], "cluster": ["xy"]},
            {"prompt": ["xy"], "item": ["xy"]},
        )
    }
    assert len(digests) == 5


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"text": ["x"]}, r"no column 'prompt' .*prompts need prompt\); name it: `columns={'prompt': 'NAME'}`"),
        ({"promt": ["x"]}, r"did you mean `columns={'prompt': 'promt'}`"),
        ({"prompt": ["x", " "]}, "column 'prompt': the cell is empty"),
        ({"prompt": ["x"], "reference": [""]}, "column 'reference': the cell is empty"),
        ({"prompt": ["x", "y"], "id": ["1", "1"]}, "'1'"),
        ({"prompt": ["x", "y"], "item": ["1", ""]}, "column 'item': the cell is empty"),
        ({"prompt": ["x\ud800"]}, "unpaired surrogate"),
        ({"prompt": ["nan"]}, "a missing number"),
        ({"prompt": []}, "no rows"),
    ],
)
def test_prompts_that_cannot_be_used(table: dict[str, list[str]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_prompts(table)


def test_references_may_be_asked_for() -> None:
    with pytest.raises(InputError, match=r"no column 'reference' .*prompts need prompt and reference"):
        read_prompts({"prompt": ["x"]}, references=True)
    with pytest.raises(UsageError, match="answer"):
        read_prompts({"prompt": ["x"]}, columns={"answer": "y"})


def test_what_was_generated_may_be_empty_or_look_like_a_missing_number(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    rows = [
        {"item": str(i), "prediction": text, "reference": "r", "finish": "stop"} for i, text in enumerate(["", "nan"])
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (found,) = read_generations([path])
    assert found.predictions == ("", "nan")
    path.write_text("".join(json.dumps({**row, "reference": ""}) + "\n" for row in rows))
    with pytest.raises(InputError, match="column 'reference': the cell is empty"):
        read_generations([path])
