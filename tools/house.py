"""Measure the house: how many files and lines, how long functions are, who imports whom.

    python -m tools.house              print the figures beside their goals
    python -m tools.house --list       also name the cycles, lone modules, types defined twice and longest functions

Imports inside functions count: a late import is still a dependency. Registries that name modules by string do not.
"""

import ast
import io
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "assay"


@dataclass(frozen=True)
class Figure:
    """One measured number beside the most (or least) it may be, if there is a goal."""

    name: str
    value: float
    goal: float | None = None
    least: bool = False

    @property
    def holds(self) -> bool:
        if self.goal is None:
            return True
        return self.value >= self.goal if self.least else self.value <= self.goal

    def __str__(self) -> str:
        shown = f"{self.name:<58} {self.value:>9,g}"
        if self.goal is None:
            return shown
        bound = "at least" if self.least else "at most"
        return f"{shown}   {bound} {self.goal:,g}{'' if self.holds else '   NOT MET'}"


@dataclass(frozen=True)
class House:
    """The modules of the package, by name."""

    trees: Mapping[str, ast.Module]
    lines: Mapping[str, int]
    code: Mapping[str, int]  # lines without blank ones, comments and docstrings
    packages: frozenset[str]

    @classmethod
    def at(cls, root: Path) -> "House":
        trees, lines, code, packages = {}, {}, {}, set()
        for path in sorted((root / "src" / PACKAGE).rglob("*.py")):
            parts = path.relative_to(root / "src").with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            text = path.read_text("utf-8")
            trees[name], lines[name], code[name] = ast.parse(text), text.count("\n"), code_lines(text)
            if parts[-1] == "__init__":
                packages.add(name)
        return cls(trees, lines, code, frozenset(packages))

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """Every module and the modules of ours that it imports, at the top, late, or for type checkers."""
        return {name: set(self._imported(name, tree)) - {name} for name, tree in self.trees.items()}

    @cached_property
    def run_time_imports(self) -> dict[str, set[str]]:
        """The same without what only type checkers read, which nobody waits for and no order can break."""
        return {name: set(self._imported(name, tree, typed=False)) - {name} for name, tree in self.trees.items()}

    def _imported(self, name: str, tree: ast.AST, *, typed: bool = True) -> Iterator[str]:
        for node in ast.iter_child_nodes(tree):
            if not typed and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                continue
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in self.trees)
            elif isinstance(node, ast.ImportFrom) and (module := node.module or "") in self.trees:
                inner = [f"{module}.{alias.name}" for alias in node.names]
                yield from (found if found in self.trees else module for found in inner)
            else:
                yield from self._imported(name, node, typed=typed)

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for name, imported in self.imports.items():
            for other in imported:
                found[other].add(name)
        return found

    @property
    def cycles(self) -> list[list[str]]:
        """Groups of modules that import each other in a circle (Tarjan's strongly connected components)."""
        return [sorted(group) for group in components(self.run_time_imports) if len(group) > 1]

    @property
    def lone(self) -> list[str]:
        """Modules whose only importer stands in another folder: perhaps they belong there."""
        return [
            name
            for name in self.trees
            if len(self.importers[name]) == 1 and self._folder(next(iter(self.importers[name]))) != self._folder(name)
        ]

    def _folder(self, name: str) -> str:
        return name if name in self.packages else name.rpartition(".")[0]

    @cached_property
    def functions(self) -> dict[str, int]:
        """Every function and how many lines it takes, its decorators and docstring included."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        return {
            f"{name}.{node.name}:{node.lineno}": (node.end_lineno or node.lineno) - node.lineno + 1
            for name, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, kinds)
        }

    @cached_property
    def types_twice(self) -> dict[str, list[str]]:
        """Names of classes and type aliases that more than one module defines, and these modules."""
        found: dict[str, list[str]] = defaultdict(list)
        for module, tree in self.trees.items():
            for name in filter(None, map(defined_type, tree.body)):
                found[name].append(module)
        return {name: modules for name, modules in sorted(found.items()) if len(modules) > 1}


def defined_type(statement: ast.stmt) -> str | None:
    """The public name of the class or type alias that a statement defines, if it does."""
    name = None
    if isinstance(statement, ast.ClassDef):
        name = statement.name
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Subscript | ast.BinOp):
        target = statement.targets[0]
        name = target.id if isinstance(target, ast.Name) else None
    return name if name and name[0].isupper() and not name.isupper() else None


def code_lines(text: str) -> int:
    """Lines without blank ones, comments and docstrings."""
    kept: set[int] = set()
    statement: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            if any(one.type != tokenize.STRING for one in statement):
                kept.update(line for one in statement for line in range(one.start[0], one.end[0] + 1))
            statement = []
        elif token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
            statement.append(token)
    return len(kept)


def components(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """Strongly connected components, by two passes of depth-first search (Kosaraju)."""
    back: dict[str, set[str]] = defaultdict(set)
    for node, others in graph.items():
        for other in others:
            back[other].add(node)
    finished: list[str] = []
    seen: set[str] = set()
    for node in graph:
        finished += postorder(graph, node, seen)
    seen, found = set(), []
    for node in reversed(finished):
        group = set(postorder(back, node, seen))
        if group:
            found.append(group)
    return found


def postorder(graph: Mapping[str, set[str]], start: str, seen: set[str]) -> Iterator[str]:
    """The nodes that can be reached and were not seen, each after those it leads to."""
    if start in seen:
        return
    seen.add(start)
    stack = [(start, iter(sorted(graph.get(start, ()))))]
    while stack:
        node, rest = stack[-1]
        other = next((n for n in rest if n not in seen), None)
        if other is None:
            stack.pop()
            yield node
        else:
            seen.add(other)
            stack.append((other, iter(sorted(graph.get(other, ())))))


def lines_below(folder: Path) -> int:
    return sum(path.read_text("utf-8").count("\n") for path in folder.rglob("*.py"))


def figures(house: House, root: Path = ROOT) -> list[Figure]:
    lengths = list(house.functions.values())
    analyses = sum(count for name, count in house.lines.items() if name.startswith(f"{PACKAGE}.analyses"))
    by_hand = sum(name.rpartition(":")[0].endswith((".to_dict", ".from_dict")) for name in house.functions)
    return [
        Figure("source files", len(house.trees), 200),
        Figure("source lines", sum(house.lines.values()), 31_000),
        Figure("lines of code (no blank lines, comments, docstrings)", sum(house.code.values())),
        Figure("type names defined twice", len(house.types_twice), 0),
        Figure("import cycles, late imports counted", len(house.cycles), 0),
        Figure("modules whose only importer is in another folder", len(house.lone), 10),
        Figure("lines of a function, median", median(lengths), 8),
        Figure("lines of a function, 90th percentile", quantiles(lengths, n=10)[-1], 20),
        Figure("to_dict and from_dict written by hand", by_hand, 0),
        Figure(
            "lines of test per line of analyses",
            round(lines_below(root / "tests/analyses") / analyses, 2),
            0.8,
            least=True,
        ),
    ]


def main(arguments: list[str]) -> int:
    house = House.at(ROOT)
    for figure in figures(house):
        print(figure)
    if "--list" in arguments:
        longest = sorted(house.functions.items(), key=lambda item: -item[1])[:10]
        print("\ncycles:", *(f"  {' · '.join(group)}" for group in house.cycles), sep="\n")
        print(
            "\nonly importer in another folder:",
            *(f"  {n} ← {next(iter(house.importers[n]))}" for n in house.lone),
            sep="\n",
        )
        twice = (f"  {name}: {', '.join(modules)}" for name, modules in house.types_twice.items())
        print("\ntype names defined twice:", *twice, sep="\n")
        print("\nlongest functions:", *(f"  {count:4} {name}" for name, count in longest), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
