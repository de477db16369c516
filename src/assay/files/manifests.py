"""The manifests of runs."""

#: How the schemas of manifests begin: of `assay score`, and of `assay tune run`.
RUNS = {"run.json": "assay/run/", "training.json": "assay/training/"}
