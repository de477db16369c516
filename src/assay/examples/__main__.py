"""``python -m assay.examples FOLDER``: copy the example files into a folder."""

import sys

from assay.examples import copy
from assay.examples.command import copied

if __name__ == "__main__":
    sys.exit(copied("assay.examples", copy, sys.argv[1:]))
