"""``python -m assay.examples.survey FOLDER``: copy the survey into a folder."""

import sys

from assay.examples.command import copied
from assay.examples.survey import copy

if __name__ == "__main__":
    sys.exit(copied("assay.examples.survey", copy, sys.argv[1:]))
