"""``python -m assay.examples.survey FOLDER``: copy the survey into a folder."""

import sys

from assay.examples import command, copy_survey

if __name__ == "__main__":
    sys.exit(command("assay.examples.survey", copy_survey, sys.argv[1:]))
