"""Help without a type beside options that take no value."""

from typing import Any

from typer.core import TyperCommand, TyperOption


class PlainFlags(TyperCommand):
    """A command whose flags are shown by their names alone."""

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        for parameter in self.params:
            if isinstance(parameter, TyperOption) and parameter.is_flag and parameter.metavar is None:
                parameter.metavar = ""

    def get_help_option(self, ctx: Any) -> Any:
        """The option --help, likewise."""
        found = super().get_help_option(ctx)
        if found is not None:
            found.metavar = ""
        return found
