"""The verbs of the `assay` command."""

#: Every verb and the module of the function of that name, in the order of the help.
VERBS = {
    "summarize": "assay.cli.summarize",
    "compare": "assay.cli.compare",
    "certify": "assay.cli.certify",
    "gate": "assay.cli.gate",
    "verify": "assay.cli.verify",
    "score": "assay.cli.score",
    "generate": "assay.cli.generate",
    "context": "assay.cli.context",
    "japanese": "assay.cli.japanese",
    "tune": "assay.cli.tune",
    "rank": "assay.cli.rank",
    "survey": "assay.cli.survey",
    "reliability": "assay.cli.reliability",
    "power": "assay.cli.power",
    "watch": "assay.cli.watch",
    "calibrate": "assay.cli.calibrate",
    "keygen": "assay.cli.verify",
    "schema": "assay.cli.verify",
    "report": "assay.cli.report",
    "convert": "assay.cli.convert",
    "formats": "assay.cli.formats",
    "demo": "assay.cli.demo",
    "doctor": "assay.cli.doctor",
}
