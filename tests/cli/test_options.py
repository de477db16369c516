"""What options mean: the text of a command line as the library takes it."""

import pytest

from assay.cli.options import OptionError, columns_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("score=acc,item=id", {"score": "acc", "item": "id"}),
        (" score = acc , item = id ", {"score": "acc", "item": "id"}),
        ('item=doc_id,"score=acc,none"', {"item": "doc_id", "score": "acc,none"}),
        ("score=a=b", {"score": "a=b"}),
        ("cluster=", {"cluster": ""}),
    ],
)
def test_columns_are_read_from_the_command_line(text: str, expected: dict[str, str]) -> None:
    assert columns_of(text) == expected


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "nothing"),
        ("acc", "'acc'"),
        ("score=acc,", "''"),
        ("=acc", "'=acc'"),
        ("score=a,score=b", "twice"),
    ],
)
def test_columns_that_make_no_sense_are_refused(text: str, part: str) -> None:
    with pytest.raises(OptionError, match="--columns must") as caught:
        columns_of(text)
    assert part in str(caught.value)
    assert caught.value.exit_code == 2
