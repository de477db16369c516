"""What may be named as a model or a text, and what it is then called."""

from pathlib import Path

import pytest

from assay.errors import AssayWarning, InputError, UsageError
from assay.scoring.models_and_texts import (
    Document,
    EndpointSpec,
    Model,
    ModelSpec,
    names_model,
    read_documents,
    spec_of,
    specs_of,
)

SERVER = EndpointSpec("http://localhost:1/v1", "served", "models/base")


@pytest.mark.parametrize("model", ["models/base", Path("models/base"), ModelSpec("models/base")])
def test_a_model_is_called_as_its_folder(model: Model) -> None:
    assert specs_of(model) == {"base": ModelSpec("models/base")}


def test_a_server_is_called_as_it_calls_its_model_and_names_given_stay() -> None:
    assert specs_of([SERVER, "a/b"]) == {"served": SERVER, "b": ModelSpec("a/b")}
    assert specs_of({"x": "models/base", "y": SERVER}) == {"x": ModelSpec("models/base"), "y": SERVER}
    assert specs_of([]) == {}


def test_a_folder_without_a_name_of_its_own_is_called_as_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert list(specs_of(".")) == [tmp_path.name]


def test_names_that_two_models_share_and_what_is_no_model_are_refused() -> None:
    with pytest.raises(UsageError, match="two models are called 'base'"):
        specs_of(["a/base", "b/base"])
    with pytest.raises(UsageError, match="is an EndpointSpec"):
        specs_of("endpoint:http://localhost:1/v1")
    with pytest.raises(UsageError, match="but got int"):
        specs_of([3])  # type: ignore[list-item]


def test_texts_are_files_or_documents_in_the_order_given(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("of a file", encoding="utf-8")
    mine = Document("mine", "of mine")
    assert read_documents(mine) == [mine]
    assert read_documents(str(tmp_path / "a.txt")) == [Document("a.txt", "of a file")]
    assert read_documents([mine, tmp_path / "a.txt"]) == [mine, Document("a.txt", "of a file")]


def test_documents_without_text_or_with_the_same_name_are_refused() -> None:
    with pytest.raises(InputError, match="empty: no text in it"):
        read_documents(Document("empty", " \n"))
    with pytest.raises(InputError, match="'x' is there twice"):
        read_documents([Document("x", "a"), Document("x", "b")])


def test_models_that_would_be_called_the_same_have_their_whole_names_where_that_is_asked_for() -> None:
    assert list(specs_of(["a/base", "b/base"], whole_names=True)) == ["a/base", "b/base"]
    assert list(specs_of(["a/base", "b/other"], whole_names=True)) == ["base", "other"]
    with pytest.raises(UsageError, match="the model a/base is there twice; name every model once"):
        specs_of(["a/base", "a/base"], whole_names=True)


def test_a_name_is_a_model_here_or_behind_a_server() -> None:
    assert spec_of("models/base", dtype="float32", model="unused") == ModelSpec("models/base", dtype="float32")
    url = "endpoint:http://localhost:1/v1"
    assert spec_of(url, model="served", tokenizer="models/base", concurrency=2, dtype="auto") == EndpointSpec(
        "http://localhost:1/v1", "served", "models/base", concurrency=2
    )
    with pytest.raises(UsageError, match=r"a server needs `model=NAME`.*and `tokenizer=MODEL`"):
        spec_of(url, model="served")


def test_what_names_a_model_and_what_a_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item\n", encoding="utf-8")
    (tmp_path / "t.txt").write_text("text", encoding="utf-8")
    (tmp_path / "model").mkdir()
    assert names_model("hub/model")
    assert not names_model(str(tmp_path / "t.csv"))
    assert not names_model("nowhere.parquet")
    assert not names_model("name=nowhere")
    with pytest.raises(UsageError, match=r"a folder without config\.json is not a model"):
        names_model(str(tmp_path / "model"))
    (tmp_path / "model" / "config.json").write_text("{}", encoding="utf-8")
    assert names_model(str(tmp_path / "model"))
    with pytest.raises(UsageError, match="a text needs a model before it"):
        names_model(str(tmp_path / "t.txt"))


def test_a_cut_that_is_in_no_text_is_warned_of(tmp_path: Path) -> None:
    for name, text in (("a.txt", "one. two."), ("b.txt", "three")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert len(read_documents(tmp_path, split_on=". ")) == 3  # it is in one of them
    with pytest.warns(AssayWarning, match=r"`split_on='@'` is in no text: they are 2 documents, as given"):
        assert len(read_documents(tmp_path, split_on="@")) == 2
