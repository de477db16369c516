"""``python -m assay.examples.tuning FOLDER``: copy the training runs into a folder."""

import sys

from assay.errors import AssayError
from assay.examples.tuning import copy

USAGE = "usage: python -m assay.examples.tuning FOLDER\n"


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.stderr.write(USAGE)
        return 2
    try:
        sys.stdout.write("".join(f"{file}\n" for file in copy(arguments[0])))
    except AssayError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
