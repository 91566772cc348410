"""Where the templates of pictures are."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def templates() -> Environment:
    """Templates of SVG: what they are given is escaped."""
    return Environment(
        loader=PackageLoader("mqperf.pages.report.pictures"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
