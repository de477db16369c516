"""The English grammar: tense holds for a story, verbs agree in number, "a" becomes "an", names are invented."""

import re

from tools.grammar_engine import Dice, Entity, Grammar, Memory, someone_but, words
from tools.grammar_english_rules import RULES

TRADES = words(
    "baker weaver potter miller teacher sailor gardener smith doctor carpenter fisher painter printer tailor "
    "shepherd beekeeper glazier cook ferryman=ferrymen clockmaker"
)
SAYINGS = (
    "slow water cuts deep",
    "a closed door still has a key",
    "the well remembers the bucket",
    "one lamp is enough for two",
    "no road is longer than the first mile",
    "bread does not ask who is hungry",
    "the moon pays no rent",
    "count twice, cut once",
    "even the wind has to wait",
    "a borrowed boat leaks",
    "what the river takes, the sea keeps",
    "snow makes no promises",
)
PLACES = words("mill bridge well market harbour chapel orchard quarry ferry lighthouse inn garden school tower gate")
ADJECTIVES = words("old red green broken narrow white quiet crooked upper lower little burnt stone empty")
MATERIALS = words("copper silver glass wooden paper clay woollen iron amber ivory leather tin")
THINGS = words("key ring spoon comb whistle button mirror bell cup ribbon map needle lens coin flute box")
GOODS = words(
    "lantern basket candle rope blanket kettle ladder barrel saddle bottle=bottles knife=knives brush=brushes "
    "loaf=loaves melon onion goose=geese shelf=shelves apple egg axe"
)
BOXES = words("trunk chest crate drawer box jar sack case casket pouch purse envelope")  # by size
ANIMALS = words(
    "goat horse cat mouse=mice heron owl fox=foxes donkey goose=geese ox=oxen hen crow sheep=sheep wolf=wolves otter"
)
COUNTS = words("one two three four five six seven eight nine ten eleven twelve")
STARTS = words(
    "Ar Bal Ber Bor Bren Cal Cor Dar Del Dor Fal Fen Gal Gor Hal Hel Jor Kal Kel Kor Lor Mal Mar Mir Mor Nal Nor "
    "Or Pel Per Quil Ral Ren Ros Sal Sel Sor Tal Tam Tor Ul Val Ver Vor Wil Yor Zal Zel"
)
ENDS = words(
    "a ak an and ard as da den dis do dra eth fa fin ga gan go ik in is ka kin la len lis lo ma men mi mos na nel no "
    "on ra ric ro sa sen ta ter tha ti to va vin wen za"
)
PRONOUNS = {
    "she": {"he": "she", "him": "her", "his": "her", "self": "herself", "number": "one"},
    "he": {"he": "he", "him": "him", "his": "his", "self": "himself", "number": "one"},
    "they": {"he": "they", "him": "them", "his": "their", "self": "themselves", "number": "many"},
}

PAST = {
    pair.partition("=")[0]: pair.partition("=")[2]
    for pair in words(
        "go=went come=came meet=met bring=brought give=gave take=took read=read say=said know=knew think=thought "
        "find=found keep=kept sit=sat stand=stood sing=sang write=wrote tell=told leave=left hear=heard see=saw "
        "hold=held hide=hid buy=bought sell=sold pay=paid sleep=slept run=ran have=had lie=lay put=put speak=spoke "
        "eat=ate do=did make=made lead=led shut=shut fall=fell hum=hummed feed=fed"
    )
}


def plural(noun: str) -> tuple[str, str]:
    one, _, many = noun.partition("=")
    return one, many or one + "s"


def verb(lemma: str, style: str, number: str) -> str:
    """The verb in the tense of the story: walks, walk or walked."""
    if lemma == "be":
        return {"present": ("is", "are"), "past": ("was", "were")}[style][number == "many"]
    if style == "past":
        return PAST.get(lemma) or past(lemma)
    if number == "many":
        return lemma
    return {"have": "has"}.get(lemma) or third(lemma)


def past(lemma: str) -> str:
    if lemma.endswith("e"):
        return lemma + "d"
    return (lemma[:-1] + "ied") if re.search("[^aeiou]y$", lemma) else lemma + "ed"


def third(lemma: str) -> str:
    if re.search("[^aeiou]y$", lemma):
        return lemma[:-1] + "ies"
    return lemma + ("es" if re.search("(s|x|z|ch|sh|o)$", lemma) else "s")


def invented(dice: Dice) -> str:
    """A name that nobody has to know."""
    return dice.pick(STARTS) + dice.pick(ENDS)


def person(dice: Dice, trade: str, saying: str, thing_kept: str) -> Entity:
    many = dice.chance(0.2)
    one, two = plural(trade)
    name = f"{invented(dice)} and {invented(dice)}" if many else invented(dice)
    return {
        "": name,
        **PRONOUNS["they" if many else dice.pick(("she", "he"))],
        "trade": two if many else f"a {one}",
        "role": f"the {two if many else one}",
        "age": str(dice.between(18, 79)),
        "saying": saying,
        "thing": f"{dice.pick(MATERIALS)} {thing_kept}",
        "home": f"the {dice.pick(ADJECTIVES)} {dice.pick(PLACES)} house",
    }


def goods(dice: Dice, noun: str) -> Entity:
    count, (one, many) = dice.between(1, 12), plural(noun)
    price, adjective = dice.between(2, 60), dice.pick(ADJECTIVES)
    return {
        "": f"{COUNTS[count - 1]} {adjective} {one if count == 1 else many}",
        "the": f"the {adjective} {one if count == 1 else many}",
        "number": "one" if count == 1 else "many",
        "price": str(price),
        "sum": str(price * count),
    }


def thing(words: str) -> Entity:
    return {"": f"a {words}", "the": f"the {words}", "number": "one"}


def smaller_and_smaller(dice: Dice) -> list[str]:
    return sorted(dice.sample(BOXES, dice.between(3, 4)), key=BOXES.index)


def herd(dice: Dice, noun: str) -> Entity:
    many, (one, two) = dice.chance(0.5), plural(noun)
    pronouns = PRONOUNS["they"] if many else {"he": "it", "him": "it", "his": "its", "number": "one"}
    return {"": two if many else one, "a": f"{dice.pick(COUNTS[1:8])} {two}" if many else f"a {one}", **pronouns}


def cast(dice: Dice) -> Memory:
    """Who and what a story is about."""
    size = dice.between(3, 4)
    traits = zip(*(dice.sample(words, size) for words in (TRADES, SAYINGS, THINGS)), strict=True)
    people = [person(dice, *trait) for trait in traits]
    sold = [goods(dice, noun) for noun in dice.sample(GOODS, dice.between(2, 4))]
    places = [thing(f"{dice.pick(ADJECTIVES)} {noun}") for noun in dice.sample(PLACES, dice.between(3, 5))]
    boxes = [thing(f"{dice.pick(MATERIALS)} {noun}") for noun in smaller_and_smaller(dice)]
    facts = {
        "town": invented(dice),
        "river": invented(dice),
        "code": str(dice.between(1000, 9999)),
        "word": f"{dice.pick(ADJECTIVES)} {dice.pick(THINGS)}",
        "total": str(sum(int(item["sum"]) for item in sold)),
        "singing": f"{dice.pick(ADJECTIVES)} {dice.pick(PLACES)}, {dice.pick(ADJECTIVES)} {dice.pick(ANIMALS[:3])}",
        "answer": f"{dice.pick(MATERIALS)} {dice.pick(THINGS)}, {dice.pick(MATERIALS)} {dice.pick(THINGS)}",
    }
    entities = {name: {"": value} for name, value in facts.items()}
    entities |= {"hero": people[0], "friend": people[1], "elder": people[2], "writer": people[-1]}
    entities |= {"one": {"number": "one"}, "many": {"number": "many"}, "goal": places[-1]}
    entities |= {"herd": herd(dice, dice.pick(ANIMALS)), "first": boxes[0], "last": boxes[-1]}
    lists = {"people": people, "others": people[1:], "goods": sold, "route": places[:-1], "boxes": boxes}
    return Memory(dice.pick(("past", "present")), entities, lists)


def polish(text: str) -> str:
    """Capitals where sentences begin, and "an" before a vowel."""
    text = re.sub(r"\b([Aa]) (?=[aeiouAEIOU])", r"\1n ", text)
    return re.sub(r"(^|\n(?:- )?|[.!?] |“)([a-z])", lambda found: found[1] + found[2].upper(), text)


ENGLISH = Grammar(
    rules=RULES,
    draws={
        "any": someone_but(),
        "buyer": someone_but("hero"),
        "second": someone_but("p"),
        "third": someone_but("p", "q"),
        "animal": lambda dice, _: herd(dice, dice.pick(ANIMALS)),
        "ware": lambda dice, memory: dice.pick(memory.lists["goods"]),
    },
    cast=cast,
    verb=verb,
    polish=polish,
)
