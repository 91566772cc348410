"""Where the templates of pictures are."""

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined


def templates(*packages: str) -> Environment:
    """Templates of SVG, those of other packages as well: what they are given is escaped."""
    of = ("mqperf.pages.report.pictures", *packages)
    return Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in of]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
