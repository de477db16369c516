"""`assay formats`."""

from assay.cli import options, output


def formats(as_json: options.Json = False) -> None:
    """List the formats of harnesses that are read: the program, what a file is known by, and what to type.

    Files are recognised by what they hold; --format NAME of other verbs says it instead.
    """
    from assay.data.readers.formats import formats as known  # late: --help needs none of it

    found = known()
    if as_json:
        output.say_json({"formats": [one.to_dict() for one in found]})
    else:
        output.say("\n\n".join(map(str, found)))
