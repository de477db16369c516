"""Text to train and score a small language model on: stories from a written grammar, in English and in Japanese.

    python -m tools.grammar LANGUAGE FIRST COUNT

A story is known by its language and its number, and is the same text on every machine. What there is to learn: verbs
agree with subjects that stand clauses away, tense and politeness hold for a whole story, articles and counters fit
their nouns, names are invented and come back, each person keeps a trade, an age, a saying and a thing, lists and songs
are repeated word for word, ways are walked back in reverse, and what was opened first is closed last.
"""

import sys
from collections.abc import Iterable, Iterator

from tools.grammar_engine import Dice, Grammar, Teller, scenes
from tools.grammar_english import ENGLISH
from tools.grammar_japanese import JAPANESE

LANGUAGES: dict[str, Grammar] = {"en": ENGLISH, "ja": JAPANESE}
BETWEEN = "\n\n"  # stories in a file; inside a story there is no empty line
PAIRS = ("ledger", "journey", "boxes", "letter", "song", "gifts", "animals")
ASIDES = ("talk", "talk", "hearsay", "remark", "remark", "quiz", "quiz", "sayings")


def story(language: str, number: int) -> str:
    """The story with this number."""
    grammar, dice = LANGUAGES[language], Dice(f"{language} {number}")
    teller = Teller(grammar, dice, grammar.cast(dice))
    paragraphs = [teller.tell(scene) for scene in scenes(dice, PAIRS, ASIDES)]
    return grammar.polish("\n".join(paragraph.strip() for paragraph in paragraphs))


def stories(language: str, numbers: Iterable[int]) -> Iterator[str]:
    return (story(language, number) for number in numbers)


def text(language: str, numbers: Iterable[int]) -> str:
    """Stories as they stand in a file."""
    return BETWEEN.join(stories(language, numbers)) + "\n"


if __name__ == "__main__":
    print(text(sys.argv[1], range(int(sys.argv[2]), int(sys.argv[2]) + int(sys.argv[3]))), end="")
