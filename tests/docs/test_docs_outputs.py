"""The machinery that runs the documentation, on pages whose outputs are known by hand."""

from textwrap import dedent

import pytest

from tools.docs_outputs import ExampleError, matches, pages, rewritten


def page(text: str) -> str:
    return dedent(text).lstrip("\n")


RIGHT = page(
    """
    # A page

    ```console
    $ echo one; echo two
    one
    two
    $ true
    $ ls missing.csv; echo $?
    ...
    2
    ```

    1. In a list:

       ```console
       $ printf 'a\\n\\nb\\n'
       a

       b
       $ echo long \\
       > line
       long line
       ```

    ```text
    $ not run
    ```

    ```python
    >>> n = 6 * 7
    >>> n
    42
    ```

    ```python
    >>> print(n)
    42
    >>> int("x")
    Traceback (most recent call last):
        ...
    ValueError: invalid literal for int() with base 10: 'x'
    ```
    """
)


def test_a_page_that_is_right_stays_as_it_is() -> None:
    assert rewritten(RIGHT) == RIGHT


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("one\ntwo\n", "one\n"),
        ("one\ntwo\n", "one\ntwo\nthree\n"),
        ("one\ntwo\n", ""),
        ("   a\n\n   b\n", "   a\n   b\n"),
        ("   long line\n", ""),
        (">>> n\n42\n", ">>> n\n41\n"),
        (">>> n\n42\n", ">>> n\n"),
        (">>> print(n)\n42\n", ">>> print(n)\n42\n43\n"),
    ],
)
def test_a_wrong_output_is_rewritten_by_the_real_one(right: str, wrong: str) -> None:
    assert RIGHT.count(right) == 1
    assert rewritten(RIGHT.replace(right, wrong)) == RIGHT


def test_blank_lines_printed_by_python_are_marked() -> None:
    text = "```python\n>>> print('a\\n\\nb')\n```\n"
    expected = "```python\n>>> print('a\\n\\nb')\na\n<BLANKLINE>\nb\n```\n"
    assert rewritten(text) == expected
    assert rewritten(expected) == expected


def test_blocks_of_a_page_share_a_folder_and_pages_do_not() -> None:
    text = page(
        """
        ```console
        $ ls
        $ echo 1 > a
        ```

        ```console
        $ ls
        a
        ```

        ```python
        >>> from pathlib import Path
        >>> Path("a").read_text()
        '1\\n'
        ```
        """
    )
    assert rewritten(text) == text
    assert rewritten(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "```console\n$ false\n```\n",
        "```console\n$ no-such-command-anywhere\nwhatever\n```\n",
        "```console\n$ python -c 1/0; echo $?\n...\n```\n",
        "```console\noutput without a command\n```\n",
        "```python\n>>> 1 / 0\n0\n```\n",
    ],
)
def test_an_example_that_fails_is_never_written_down(text: str) -> None:
    with pytest.raises(ExampleError):
        rewritten(text)


def test_commands_run_in_this_environment() -> None:
    text = "```console\n$ python -c 'import pytest, sys; print(sys.prefix != sys.base_prefix)'\nTrue\n```\n"
    assert rewritten(text) == text


def test_a_line_of_dots_stands_for_any_lines() -> None:
    assert matches("...", "")
    assert matches("a\n...\nc", "a\nc")
    assert matches("a\n...\nc", "a\nb\nb\nc")
    assert not matches("a\n...\nc", "a\nb")
    assert not matches("a.c", "abc")
    assert not matches("", "a")


def test_numbers_in_full_may_differ_in_their_last_digits() -> None:
    assert matches('"low": 0.06283970332564438,', '"low": 0.06283970332564449,')
    assert matches("3.1003640784882034e-90", "3.1003640784882099e-90")
    assert not matches("0.06283970332564438", "0.06283980332564438")
    assert not matches("3.1003640784882034e-90", "3.1003640784882034e-91")
    assert not matches("0.0628", "0.0629")


def test_the_front_page_is_one_of_the_pages() -> None:
    names = [found.name for found in pages()]
    assert names[0] == "README.md"
    assert "index.md" in names
