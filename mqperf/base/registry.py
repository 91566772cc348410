"""Registries: the values of one extension point by name, built in or of installed packages.

A package adds a value by an entry point in the group of the extension point, such as
``mqperf.test_cases``; CONTRIBUTING.md shows one of each.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from typing_extensions import override

from mqperf.base.errors import PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "mqperf."
"""Prefix of the entry-point groups."""


class Named(Protocol):
    """A value of a registry, which has a name."""

    @property
    def name(self) -> str:
        """Its name in plans and records."""
        ...


T = TypeVar("T", bound=Named)
V = TypeVar("V")


class LateMapping(ABC, Mapping[str, V]):
    """A mapping of values by name that is built at the first lookup."""

    @property
    @abstractmethod
    def _values(self) -> Mapping[str, V]: ...

    @override
    def __getitem__(self, name: str) -> V:
        """Return the value of that name."""
        return self._values[name]

    @override
    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._values)

    @override
    def __len__(self) -> int:
        """Number of values."""
        return len(self._values)


class Registry(LateMapping[T]):
    """The values of one extension point, in the order in which pages and messages list them.

    Built-in values come first, then those of packages; or all are sorted by the key ``place``.
    Entry points are loaded when a value is looked up, not when mqperf is imported, since packages
    import mqperf themselves.  Looking up one name loads only the entry points of that name;
    iterating loads all, and raises ``PluginError`` when one of them is broken.
    """

    def __init__(
        self, seam: str, values: Iterable[T] = (), place: Callable[[T], int] = lambda _: 0
    ) -> None:
        """Start with the built-in values; ``seam`` is the group's name without its prefix."""
        self._group = GROUP + seam
        self._builtin = tuple(values)
        self._sort_key = place

    @property
    def own(self) -> list[str]:
        """The names of the built-in values."""
        return [value.name for value in self._builtin]

    @override
    def __getitem__(self, name: str) -> T:
        """Return the value of that name."""
        if "_values" in vars(self):
            return self._values[name]
        loaded = (_loaded(point) for point in self._points() if point.name == name)
        candidates: Iterator[T] = chain(self._builtin, loaded)
        for value in candidates:
            if value.name == name:
                return value
        return self._values[name]

    @cached_property
    @override
    def _values(self) -> dict[str, T]:
        values = {value.name: value for value in self._builtin}
        for point in self._points():
            value: T = _loaded(point)
            if value.name in values:
                raise PluginError(
                    f"{_source(point)}: there is {value.name!r} in {self._group} already;"
                    " uninstall one of the packages that add it"
                )
            values[value.name] = value
        return {value.name: value for value in sorted(values.values(), key=self._sort_key)}

    def _points(self) -> Iterator["EntryPoint"]:
        return (entry for entry in _all_points((*sys.path,)) if entry.group == self._group)


@cache
def _all_points(_path: tuple[str, ...]) -> tuple["EntryPoint", ...]:
    """Return the entry points of all registries, sorted by name; scanned once for each path."""
    from importlib.metadata import entry_points

    entries = entry_points()
    groups = (group for group in entries.groups if group.startswith(GROUP))
    points = (point for group in groups for point in entries.select(group=group))
    return tuple(sorted(points, key=lambda point: point.name))


def _loaded(point: "EntryPoint") -> Any:  # noqa: ANN401 (a value of any extension point)
    """Load the value of an entry point; ``PluginError`` for anything that the package raises."""
    try:
        value = point.load()
        str(value.name)
    except Exception as error:  # noqa: BLE001 (whatever a package does while it is imported)
        raise PluginError(
            f"{_source(point)}: cannot be loaded: {type(error).__name__}: {error};"
            " repair or uninstall the package"
        ) from None
    return value


def _source(point: "EntryPoint") -> str:
    package = f"package {point.dist.name} {point.dist.version}" if point.dist else "a package"
    return f"{package}, entry point {point.name} of {point.group} ({point.value})"
