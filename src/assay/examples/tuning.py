"""``python -m assay.examples.tuning FOLDER``: copy the training runs into a folder."""

import sys

from assay.examples import command, copy_runs

if __name__ == "__main__":
    sys.exit(command("assay.examples.tuning", copy_runs, sys.argv[1:]))
