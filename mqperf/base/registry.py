"""Registries: the values of one seam by name, mqperf's own and those of installed packages.

A package adds a value by an entry point in the group of the seam, such as ``mqperf.test_cases``;
CONTRIBUTING.md shows one of each.
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
"""How the names of the groups of entry points begin."""


class Named(Protocol):
    """What a registry holds: a value that knows its name."""

    @property
    def name(self) -> str:
        """By which plans and records call it."""
        ...


T = TypeVar("T", bound=Named)
V = TypeVar("V")


class LateMapping(ABC, Mapping[str, V]):
    """Values by name that are gathered when the first of them is looked up."""

    @property
    @abstractmethod
    def _values(self) -> Mapping[str, V]: ...

    @override
    def __getitem__(self, name: str) -> V:
        """The value of that name."""
        return self._values[name]

    @override
    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._values)

    @override
    def __len__(self) -> int:
        """How many there are."""
        return len(self._values)


class Registry(LateMapping[T]):
    """The values of one seam, in the order in which pages and messages list them.

    It is mqperf's own order, then that of packages; or that of ``place``, a number of each value.
    Installed packages are asked when a value is looked up, not when mqperf is imported: they import
    mqperf themselves.  For one name that of the value's package is enough; whoever asks for all
    gets a ``PluginError`` when one of them is broken.
    """

    def __init__(
        self, seam: str, values: Iterable[T] = (), place: Callable[[T], int] = lambda _: 0
    ) -> None:
        """Begin with mqperf's own; ``seam`` is the end of the group's name."""
        self._group = GROUP + seam
        self._own = tuple(values)
        self._place = place

    @property
    def own(self) -> list[str]:
        """The names of mqperf's own."""
        return [value.name for value in self._own]

    @override
    def __getitem__(self, name: str) -> T:
        """The value of that name."""
        if "_values" in vars(self):
            return self._values[name]
        named = (_loaded(point) for point in self._points() if point.name == name)
        among: Iterator[T] = chain(self._own, named)
        for value in among:
            if value.name == name:
                return value
        return self._values[name]

    @cached_property
    @override
    def _values(self) -> dict[str, T]:
        values = {value.name: value for value in self._own}
        for point in self._points():
            value: T = _loaded(point)
            if value.name in values:
                raise PluginError(
                    f"{_named(point)}: there is {value.name!r} in {self._group} already;"
                    " uninstall one of the packages that add it"
                )
            values[value.name] = value
        return {value.name: value for value in sorted(values.values(), key=self._place)}

    def _points(self) -> Iterator["EntryPoint"]:
        return (entry for entry in _points((*sys.path,)) if entry.group == self._group)


@cache
def _points(_path: tuple[str, ...]) -> tuple["EntryPoint", ...]:
    """Those of all packages on the path by name, looked through once for all registries."""
    from importlib.metadata import entry_points

    entries = entry_points()
    groups = (group for group in entries.groups if group.startswith(GROUP))
    points = (point for group in groups for point in entries.select(group=group))
    return tuple(sorted(points, key=lambda point: point.name))


def _loaded(point: "EntryPoint") -> Any:  # noqa: ANN401 (of whatever kind the seam is)
    """The value of an entry point, whatever went wrong in somebody else's package."""
    try:
        value = point.load()
        str(value.name)
    except Exception as error:  # noqa: BLE001 (whatever a package does while it is imported)
        raise PluginError(
            f"{_named(point)}: cannot be loaded: {type(error).__name__}: {error};"
            " repair or uninstall the package"
        ) from None
    return value


def _named(point: "EntryPoint") -> str:
    package = f"package {point.dist.name} {point.dist.version}" if point.dist else "a package"
    return f"{package}, entry point {point.name} of {point.group} ({point.value})"
