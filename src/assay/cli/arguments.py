"""Arguments of the library as options of the command line: the one place that translates.

What the library says names arguments in backquotes, as Python writes them (`assay.names.argument`): `resamples`,
`min_n=30`, `columns={'score': 'acc'}`, `Selection(task='*')`, `evidence=FILE`. Most options are called
like the argument.
"""

import ast
import re
import warnings

from assay.names import one_line

#: Arguments whose options are called otherwise.
OPTIONS = {
    "draw": "--windows",
    "learning_rate": "--lr",
    "learning_rates": "--lrs",
    "models": "--a or --b",
    "output": "-o",
    "public_key": "--key",
    "sign_with": "--sign",
}
_QUOTED = re.compile(r"(?<!`)`([A-Z]\w*\([^`]{1,400}\)|[a-z]\w*(?:=[^`]{1,400})?)`(?!`)")


def as_options(text: str) -> str:
    """What the library says, as the command line says it.

    >>> as_options("raise `resamples`, or name it: `columns={'score': 'acc', 'split': ''}`")
    'raise --resamples, or name it: --columns score=acc,split='
    >>> as_options("`Selection(task='*', newest=True)`, `draw=(180, 180)`, `models=('NAME', 'NAME')`")
    "--task '*' --newest, --windows 180x180, --a NAME --b NAME"
    """
    return _QUOTED.sub(lambda found: _options(found[1]) or found[0], text)


def _options(written: str) -> str | None:
    """The options for arguments as Python writes them; nothing where it is something else."""
    try:
        with warnings.catch_warnings(action="ignore"):  # a name from a file may look like a bad escape
            call = ast.parse(written if written[0].isupper() else f"_({written})", mode="eval").body
        if not isinstance(call, ast.Call):
            return None
        return " ".join(
            [*(_option(_text(name)) for name in call.args), *(_with_value(str(w.arg), w.value) for w in call.keywords)]
        )
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _option(name: str) -> str:
    return OPTIONS.get(name) or f"--{name.replace('_', '-')}"


def _with_value(name: str, value: ast.expr) -> str:
    if isinstance(value, ast.Constant) and (value.value is True or value.value is ...):  # a flag; any value
        return _option(name)
    if name == "models" and isinstance(value, ast.Tuple):
        chosen = zip(("--a", "--b"), value.elts, strict=False)
        return " ".join(f"{option} {_quoted(_text(part))}" for option, part in chosen if not _is_none(part))
    return f"{_option(name)} {_quoted(_text(value))}"


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _text(value: ast.expr) -> str:
    if isinstance(value, ast.Name):  # a placeholder, such as FILE
        return value.id
    if isinstance(value, ast.Dict):
        pairs = zip(value.keys, value.values, strict=True)
        parts = [f"{_text(key)}={_text(theirs)}" for key, theirs in pairs if key is not None]
        return ",".join(f'"{part}"' if "," in part else part for part in parts)
    if isinstance(value, ast.Tuple):
        return "x".join(map(_text, value.elts))
    if isinstance(value, ast.List):
        return ",".join(map(_text, value.elts))
    return one_line(str(ast.literal_eval(value)))


def _quoted(text: str) -> str:
    """As a shell takes it, with quotes only where it would read something else."""
    return text if re.fullmatch(r"[\w@%+=:,./…-]*", text) else "'" + text.replace("'", "'\"'\"'") + "'"
