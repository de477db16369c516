"""``python -m assay.examples.tuning FOLDER``: copy the training runs into a folder."""

import sys

from assay.examples.command import copied
from assay.examples.tuning import copy

if __name__ == "__main__":
    sys.exit(copied("assay.examples.tuning", copy, sys.argv[1:]))
