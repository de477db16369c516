"""The grammar of the shipped model: what its stories promise, checked from the printed text alone."""

import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.grammar import ASIDES, LANGUAGES, PAIRS, stories, story, text
from tools.grammar_engine import Dice, Grammar, Memory, Teller, scenes
from tools.grammar_english import verb as english
from tools.grammar_japanese import verb as japanese

NUMBERS = st.integers(0, 10_000)
COUNTS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
KANJI = ["一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"]
COUNTERS = {"毛布": "枚", "着物": "枚", "傘": "本", "ろうそく": "本", "絵本": "冊", "卵": "個", "靴": "足", "舟": "艘"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_story_is_the_same_in_another_process_whatever_its_hash_seed(language: str) -> None:
    command = [sys.executable, "-m", "tools.grammar", language, "7", "3"]
    found = [
        subprocess.run(
            command, env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}, capture_output=True, check=True
        )
        for seed in ("0", "1")
    ]
    assert [one.stdout.decode() for one in found] == [text(language, range(7, 10))] * 2


@pytest.mark.parametrize("language", LANGUAGES)
@given(number=NUMBERS)
def test_every_slot_is_filled_and_no_paragraph_is_empty(language: str, number: int) -> None:
    told = story(language, number)
    assert not re.search(r"[{}+~]|  ", told)
    assert all(line.strip() == line and line for line in told.split("\n"))
    for opening, closing in ("“”", "‘’", "「」", "『』"):
        assert told.count(opening) == told.count(closing)


@pytest.mark.parametrize("language", LANGUAGES)
def test_stories_differ_and_those_held_out_are_new(language: str) -> None:
    trained, held_out = (set(stories(language, range(first, first + 200))) for first in (0, 1_000_000))
    assert len(trained) == len(held_out) == 200
    assert not trained & held_out
    lines = {line for one in trained for line in one.split("\n")}
    new = [line for one in held_out for line in one.split("\n") if line not in lines]
    assert len(new) > 0.95 * sum(one.count("\n") + 1 for one in held_out)


@given(number=NUMBERS)
def test_english_articles_fit_the_next_word(number: int) -> None:
    told = story("en", number)
    assert not re.search(r"\b[Aa] [aeiou]", told)
    assert not re.search(r"\b[Aa]n [^aeiou]", told)


@given(number=NUMBERS)
def test_an_english_story_keeps_its_tense(number: int) -> None:
    told = re.sub(r"“[^”]*”|This is a story", "", story("en", number))  # what is said, and the teller's own words
    present = re.findall(r"\b(is|are|has|goes|says|say|lives|comes|carries)\b", told)
    past = re.findall(r"\b(was|were|had|went|said|lived|came|carried)\b", told)
    assert (present == []) != (past == [])


@given(number=NUMBERS)
def test_an_english_verb_agrees_with_two_people_and_with_one(number: int) -> None:
    told = story("en", number)
    for names, verb in re.findall(r"\b([A-Z][a-z]+(?: and [A-Z][a-z]+)?) still (has|have|had)\b", told):
        assert verb in ("had", "have" if " and " in names else "has")
    for names, verb in re.findall(r"“How old (is|are) ([^?]+)\?”", told):
        assert (names == "are") == (" and " in verb)


@given(number=NUMBERS)
def test_a_ledger_adds_up_in_both_languages(number: int) -> None:
    for language, line, total in (
        ("en", r"- (\w+) .* at (\d+) coins", r"(?:In all that \w+|The sum \w+) (\d+) coins"),
        ("ja", r"・([一二三四五六七八九十]+).*、一つ(\d+)文", r"(?:合わせて|合計は)(\d+)文"),
    ):
        told = story(language, number)
        for found in re.finditer(rf"((?:^(?:- |・).*\n)+).*?{total}", told, flags=re.MULTILINE):
            lines = re.findall(line, found[1])
            assert sum(counted(count) * int(price) for count, price in lines) == int(found[2])


def counted(word: str) -> int:
    return (KANJI.index(word) if word in KANJI else COUNTS.index(word.lower())) + 1


@given(number=NUMBERS)
def test_a_journey_goes_back_in_reverse(number: int) -> None:
    told = story("en", number)
    out = re.search(r"(?:went|go|goes|it:) ((?:to the \w+ \w+, )+)(?:and at last|then) to", told)
    back = re.search(r"((?:to the \w+ \w+, )+)and (?:so home|at the end)", told)
    assert (out is None) == (back is None)
    if out is not None and back is not None:
        assert out[1].split(", ")[:-1] == back[1].split(", ")[-2::-1]


@given(number=NUMBERS)
def test_the_number_of_a_letter_comes_back(number: int) -> None:
    for language, first, again in (
        ("en", r"number (\d{4})[. ].*Yours,", r"[Nn]umber (\d{4}) at"),
        ("ja", r"(\d{4})番.*より」", r"(\d{4})番の戸"),
    ):
        told = story(language, number)
        given_, asked = re.search(first, told), re.search(again, told)
        assert (given_ is None) == (asked is None)
        assert given_ is None or asked is None or given_[1] == asked[1]


@given(number=NUMBERS)
def test_a_japanese_story_keeps_its_politeness(number: int) -> None:
    told = re.sub(r"「[^」]*」", "", story("ja", number))
    endings = [sentence.strip() for sentence in re.split("。|\n", told) if sentence.strip() and "文" not in sentence]
    polite = [ending.endswith(("ます", "ました", "です", "でした", "ません")) for ending in endings]
    plain = [bool(re.search(r"(る|た|だ|う|く|す|つ|む|ない)$", ending)) for ending in endings]
    assert all(polite) or not any(polite)
    assert all(a or b for a, b in zip(polite, plain, strict=True))


@given(number=NUMBERS)
def test_a_japanese_noun_has_its_counter(number: int) -> None:
    for line in re.findall("・(.*)、", story("ja", number)):
        numeral, counter, noun = re.fullmatch("([一二三四五六七八九十]+)(.)の.*?([^いなの]+)", line).groups()  # type: ignore[union-attr]
        assert numeral in KANJI
        assert COUNTERS.get(noun, counter) == counter


@pytest.mark.parametrize(
    ("lemma", "forms"),
    [
        ("be", "is are was were"),
        ("have", "has have had had"),
        ("carry", "carries carry carried carried"),
        ("watch", "watches watch watched watched"),
        ("go", "goes go went went"),
        ("live", "lives live lived lived"),
        ("play", "plays play played played"),
    ],
)
def test_english_verbs_against_a_school_book(lemma: str, forms: str) -> None:
    found = [english(lemma, style, number) for style in ("present", "past") for number in ("one", "many")]
    assert found == forms.split()


@pytest.mark.parametrize(
    "forms",
    [
        "書く 書いた 書きます 書きました",
        "泳ぐ 泳いだ 泳ぎます 泳ぎました",
        "話す 話した 話します 話しました",
        "立つ 立った 立ちます 立ちました",
        "死ぬ 死んだ 死にます 死にました",
        "遊ぶ 遊んだ 遊びます 遊びました",
        "読む 読んだ 読みます 読みました",
        "帰る 帰った 帰ります 帰りました",
        "買う 買った 買います 買いました",
        "行く 行った 行きます 行きました",
        "食べる 食べた 食べます 食べました",
        "持ってくる 持ってきた 持ってきます 持ってきました",
        "する した します しました",
        "だ だった です でした",
        "ない なかった ありません ありませんでした",
    ],
)
def test_japanese_verbs_against_a_school_book(forms: str) -> None:
    styles = ("present", "past", "polite present", "polite past")
    assert [japanese(forms.split(maxsplit=1)[0], style, "one") for style in styles] == forms.split()


@given(seed=st.text(max_size=5))
def test_what_opens_first_closes_last(seed: str) -> None:
    order = scenes(Dice(seed), PAIRS, ASIDES)
    assert (order[0], order[-1]) == ("opening", "closing")
    stack = []
    for scene in order:
        name, _, part = scene.partition("_")
        if part == "1":
            stack.append(name)
        elif part == "2":
            assert stack.pop() == name
    assert not stack


def teller(**rules: str) -> Teller:
    """A grammar of one alternative for each rule."""
    grammar = Grammar(
        rules={name: (rule,) for name, rule in rules.items()},
        draws={},
        cast=lambda _: Memory("past", {}, {}),
        verb=lambda lemma, style, number: f"{lemma}/{style}/{number}",
        polish=str,
    )
    two = [{"": "a", "x": "A"}, {"": "b", "x": "B"}, {"": "c", "x": "C"}]
    return Teller(grammar, Dice("0"), Memory("past", {"we": {"": "we", "number": "many"}}, {"list": two}))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("{we} {we+go} {we~go} {+rain}", "we go/past/many go/present/many rain/past/one"),
        ("{each:list:form}-{back:list:form}", "ABC-CBA"),
        ("{chain:list:pair}-{unchain:list:pair}", "ab,bc,-bc,ab,"),
        ("{new=word}{new}{new}", "wordword"),
        ("{again=we}{again+go}", "go/past/many"),
    ],
)
def test_slots_say_what_the_description_of_the_engine_says(rule: str, said: str) -> None:
    told = teller(start=rule, form="{it.x}", pair="{it}{next},", word="word")
    assert told.tell("start") == said


def test_a_rule_that_does_not_end_is_named() -> None:
    with pytest.raises(RecursionError, match="'start' does not end"):
        teller(start="{start}").tell("start")


def test_dice_draw_every_number_and_nothing_else() -> None:
    dice = Dice("test")
    assert {dice.between(3, 6) for _ in range(200)} == {3, 4, 5, 6}
    assert sorted(dice.sample(range(50), 50)) == list(range(50))
