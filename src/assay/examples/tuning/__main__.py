"""``python -m assay.examples.tuning FOLDER``: copy the training runs into a folder."""

import sys

from assay.examples import command
from assay.examples.tuning import copy

if __name__ == "__main__":
    sys.exit(command("assay.examples.tuning", copy, sys.argv[1:]))
