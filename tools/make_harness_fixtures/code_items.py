"""Tiny programming problems, and answers to them that are right, right on easy inputs only, wrong, or never end."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    name: str
    parameters: str
    right: str  # the expression that is returned
    easy: str  # right on the easy inputs only
    easy_inputs: tuple[tuple[object, ...], ...]
    hard_inputs: tuple[tuple[object, ...], ...]

    @property
    def prompt(self) -> str:
        return f'def {self.name}({self.parameters}):\n    """{self.name.replace("_", " ")}"""\n'

    def answer(self, grade: str) -> str:
        bodies = {"r": f"return {self.right}", "e": f"return {self.easy}", "w": "return None", "t": "while True: pass"}
        return f"    {bodies[grade]}\n"


PROBLEMS = (
    Problem("add", "a, b", "a + b", "abs(a) + b", ((1, 2), (0, 5)), ((-1, 2),)),
    Problem("last", "items", "items[-1] if items else None", "items[-1]", (([1, 2],),), (([],),)),
    Problem("is_even", "n", "n % 2 == 0", "n in (0, 2, 4)", ((2,), (3,)), ((10,),)),
    Problem("square", "n", "n * n", "n * abs(n)", ((3,), (0,)), ((-2,),)),
    Problem("shout", "text", "text.upper()", "text.upper().strip()", (("hi",),), ((" hi",),)),
    Problem("count_a", "text", "text.lower().count('a')", "text.count('a')", (("banana",),), (("Anna",),)),
    Problem("largest", "items", "max(items)", "max(0, *items)", (([1, 3, 2],),), (([-1, -2],),)),
    Problem("halves", "n", "n / 2", "n // 2", ((4,),), ((5,),)),
    Problem("words", "text", "len(text.split())", "text.count(' ') + 1", (("a b",),), (("a  b",),)),
    Problem("unique", "items", "sorted(set(items))", "sorted(items)", (([2, 1],),), (([1, 1],),)),
    Problem("sign", "n", "(n > 0) - (n < 0)", "1 if n > 0 else -1", ((3,), (-3,)), ((0,),)),
    Problem("first_word", "text", "text.split()[0]", "text.split(' ')[0]", (("a b",),), ((" a b",),)),
)
#: A letter for each attempt at each problem, in this order.
GRADES = {
    "small": ("rr", "re", "ww", "er", "rr", "we", "wt", "rr", "ew", "ww", "rw", "te"),
    "large": ("rrr", "rr", "rrw", "rer", "rrr", "rrr", "wrr", "rrr", "err", "wwr", "rrr", "rww"),
}
