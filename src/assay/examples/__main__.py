"""``python -m assay.examples FOLDER``: copy the example files into a folder."""

import sys

from assay.errors import AssayError
from assay.examples import copy

USAGE = "usage: python -m assay.examples FOLDER\n\nCopies the example files into FOLDER."


def main(arguments: list[str]) -> int:
    if arguments in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    try:
        for file in copy(arguments[0]):
            print(file)
    except AssayError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
