"""The version, in the one place from which the package, the command and every signature take it."""

VERSION = "0.1.0"
