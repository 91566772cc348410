"""The environment of templates of pictures."""

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined


def templates(*packages: str) -> Environment:
    """Return an environment of SVG templates, also of other packages, that escapes values."""
    names = ("mqperf.pages.report.pictures", *packages)
    return Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in names]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
