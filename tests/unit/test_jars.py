"""Jars that Maven resolves: their names and sums are pinned, and others are refused."""

import hashlib
from pathlib import Path

import pytest

from mqperf.base.errors import SystemFault
from mqperf_java.hosts.jars import Jars
from mqperf_kafka.lab.brokers import JARS, VERSION


def pinned(tmp_path: Path) -> tuple[Jars, Path]:
    """Two pinned jars, and the folder where Maven has put them."""
    folder = tmp_path / "jars"
    folder.mkdir()
    lines = []
    for name in ("broker.jar", "library.jar"):
        (folder / name).write_text(name)
        lines.append(f"{hashlib.sha512(name.encode()).hexdigest()}  {name}\n")
    sums = tmp_path / "sums-1.0.txt"
    sums.write_text("".join(lines))
    return Jars("Bunny 1.0", tmp_path / "pom.xml", sums), folder


def test_the_pinned_jars_are_taken(tmp_path: Path) -> None:
    """All of them, and no other."""
    jars, folder = pinned(tmp_path)
    jars.verify(folder)
    assert list(jars.pinned) == ["broker.jar", "library.jar"]


@pytest.mark.parametrize("fault", ["changed", "missing", "another"])
def test_other_jars_are_refused(tmp_path: Path, fault: str) -> None:
    """The error names the jar, what it is of, the file that pins it, and how to get a sound one."""
    jars, folder = pinned(tmp_path)
    jar = folder / ("another.jar" if fault == "another" else "library.jar")
    jar.write_text("forged") if fault != "missing" else jar.unlink()
    with pytest.raises(SystemFault) as fault_told:
        jars.verify(folder)
    assert str(fault_told.value).startswith(f"{jar.name} of Bunny 1.0: not what {jars.sums} pins;")
    assert "below ~/.m2/repository" in str(fault_told.value)


def test_other_sums_are_another_folder(tmp_path: Path) -> None:
    """Jars that are pinned anew are fetched anew."""
    jars, _ = pinned(tmp_path)
    before = jars.home(tmp_path)
    jars.sums.write_text(jars.sums.read_text().replace("library", "other"))
    assert jars.home(tmp_path) != before


def test_without_maven_the_user_learns_how_to_get_it(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not in the cache needs Maven."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemFault, match=r"Kafka .* is not installed: sudo apt-get install maven"):
        JARS.available()
    assert not own_cache.exists()


def test_every_jar_of_kafka_is_pinned() -> None:
    """By a whole SHA-512; the broker's own jars have the version that facts and pom tell."""
    assert all(len(bytes.fromhex(digest)) == 64 for digest in JARS.pinned.values())
    assert f"kafka_2.13-{VERSION}.jar" in JARS.pinned
    assert f"<version>{VERSION}</version>" in JARS.pom.read_text()
