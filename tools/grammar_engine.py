"""A grammar with a memory: rules that are written as sentences, and slots that keep what a story has said.

A rule is a name and its alternatives. In an alternative,

    {name}               what is remembered under the name, or else one alternative of that rule
    {name.form}          another form of what is remembered: {hero.his}
    {name+verb}          a verb, as the story's tense and the number of what is remembered ask for it: {hero+walk};
                         without a name as after one: {+rain}
    {name~verb}          the same in the present tense, whatever the story's: for what people say
    {name=rule}          remember one draw or expansion of the rule under the name, and say nothing
    {each:list:rule}     the rule for every item of a list, as {it}; {back:list:rule} from the last to the first
    {chain:list:rule}    the rule for all neighbours of a list, as {it} and {next}; {unchain:list:rule} backwards

Rules may name themselves: that is how clauses come to stand inside clauses.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

Entity = dict[str, str]  # forms by name; "" is the one that is printed, "number" is "one" or "many"
T = TypeVar("T")

SLOT = re.compile(r"\{([^{}]+)\}")
VERB = re.compile(r"(\w*)([+~])(\w+)")
DEEPEST = 40  # expansions inside one another; a grammar that goes deeper does not end


def words(text: str) -> tuple[str, ...]:
    """Words as a person writes them down: with spaces between."""
    return tuple(text.split())


class Dice:
    """Draws that are the same in every version of Python: only ``random()`` is promised to stay as it is."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random  # noqa: S311 - stories, not secrets

    def below(self, n: int) -> int:
        return int(self._random() * n)

    def between(self, low: int, high: int) -> int:
        """A number from low to high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], n: int) -> list[T]:
        """Different items in random order."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(n)]


@dataclass
class Memory:
    """What a story is about. ``style`` is what all its sentences share, such as the tense."""

    style: str
    entities: dict[str, Entity]
    lists: dict[str, list[Entity]]


@dataclass(frozen=True)
class Grammar:
    """A language: its rules, who and what its stories are about, how it bends verbs, and a last touch."""

    rules: Mapping[str, Sequence[str]]
    draws: Mapping[str, Callable[[Dice, Memory], Entity]]
    cast: Callable[[Dice], Memory]
    verb: Callable[[str, str, str], str]  # verb, style, number
    polish: Callable[[str], str]


@dataclass
class Teller:
    """One story in the making."""

    grammar: Grammar
    dice: Dice
    memory: Memory
    depth: int = 0

    def tell(self, rule: str) -> str:
        """One alternative of a rule with every slot filled."""
        if self.depth > DEEPEST:
            raise RecursionError(f"the rule {rule!r} does not end.")
        self.depth += 1
        said = SLOT.sub(lambda slot: self._slot(slot[1]), self.dice.pick(self.grammar.rules[rule]))
        self.depth -= 1
        return said

    def _slot(self, slot: str) -> str:
        if slot.count(":") == 2:
            return self._over(*slot.split(":"))
        if "=" in slot:
            name, rule = slot.split("=")
            self.memory.entities[name] = self._drawn(rule)
            return ""
        if found := VERB.fullmatch(slot):
            style = self.memory.style if found[2] == "+" else "present"
            number = self._entity(found[1]).get("number", "one") if found[1] else "one"
            return self.grammar.verb(found[3], style, number)
        name, _, form = slot.partition(".")
        if name not in self.memory.entities and not form:
            return self.tell(name)
        return self._entity(name)[form]

    def _entity(self, name: str) -> Entity:
        return self.memory.entities[name]

    def _drawn(self, rule: str) -> Entity:
        if rule in self.grammar.draws:
            return self.grammar.draws[rule](self.dice, self.memory)
        return self.memory.entities.get(rule) or {"": self.tell(rule)}

    def _over(self, how: str, name: str, rule: str) -> str:
        items = self.memory.lists[name]
        paired = how.endswith("chain")
        steps = list(pairwise(items)) if paired else [(item, item) for item in items]
        ordered = {"each": steps, "chain": steps, "back": steps[::-1], "unchain": steps[::-1]}[how]
        return "".join(self._step(it, following, rule) for it, following in ordered)

    def _step(self, it: Entity, following: Entity, rule: str) -> str:
        self.memory.entities |= {"it": it, "next": following}
        return self.tell(rule)


def someone_but(*names: str) -> Callable[[Dice, Memory], Entity]:
    """A draw of one of the people who is none of those remembered under these names."""

    def drawn(dice: Dice, memory: Memory) -> Entity:
        known = [memory.entities[name] for name in names]
        return dice.pick([person for person in memory.lists["people"] if person not in known])

    return drawn


def scenes(dice: Dice, pairs: Sequence[str], asides: Sequence[str]) -> list[str]:
    """The order of a story. What opens first closes last, so that scenes stand inside scenes:

    opening, a1, b1, c1, asides, c2, b2, a2, closing
    """
    opened = dice.sample(pairs, dice.between(3, 4))
    between = [dice.pick(asides) for _ in range(dice.between(2, 4))]
    first = [scene for name in opened for scene in [f"{name}_1", *([dice.pick(asides)] if dice.chance(0.4) else [])]]
    return ["opening", *first, *between, *(f"{name}_2" for name in reversed(opened)), "closing"]
