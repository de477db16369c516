"""``python -m assay.examples FOLDER``: copy the example files into a folder."""

import sys

from assay.examples import command, copy

if __name__ == "__main__":
    sys.exit(command("assay.examples", copy, sys.argv[1:]))
