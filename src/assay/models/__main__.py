"""``python -m assay.models FOLDER``: write the shipped model, its texts and its edited copies into a folder."""

import sys

from assay.exit_codes import ended

USAGE = (
    "usage: python -m assay.models [FOLDER]\n\n"
    "Writes the shipped model (base), its texts (en.txt, ja.txt) and edited copies into FOLDER:\n"
    "int8, int4, int3 (weights rounded to so many bits) and pruned.\n"
    "Without FOLDER: prints where the model and its texts are."
)


def main(arguments: list[str]) -> int:
    from assay.models import copies, names, path

    if arguments in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print(USAGE, file=sys.stderr)
        return 2

    def listed() -> None:
        for file in copies(arguments[0]).values() if arguments else map(path, names()):
            print(file)

    return ended(listed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
