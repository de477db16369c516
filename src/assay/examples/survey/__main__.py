"""``python -m assay.examples.survey FOLDER``: copy the survey into a folder."""

import sys

from assay.examples import command
from assay.examples.survey import copy

if __name__ == "__main__":
    sys.exit(command("assay.examples.survey", copy, sys.argv[1:]))
