"""Jars that Maven resolves: names and checksums are pinned, others are refused."""

import hashlib
from pathlib import Path

import pytest

from mqperf.base.errors import SystemFault
from mqperf_java.hosts.jars import Jars
from mqperf_kafka.lab.brokers import JARS, VERSION


def pinned(tmp_path: Path) -> tuple[Jars, Path]:
    """Two pinned jars, and their folder."""
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
    """Exactly the pinned jars are accepted."""
    jars, folder = pinned(tmp_path)
    jars.verify(folder)
    assert list(jars.pinned) == ["broker.jar", "library.jar"]


@pytest.mark.parametrize("fault", ["changed", "missing", "another"])
def test_other_jars_are_refused(tmp_path: Path, fault: str) -> None:
    """The error names the jar, its product, the file that pins it, and the remedy."""
    jars, folder = pinned(tmp_path)
    jar = folder / ("another.jar" if fault == "another" else "library.jar")
    jar.write_text("forged") if fault != "missing" else jar.unlink()
    with pytest.raises(SystemFault) as error:
        jars.verify(folder)
    assert str(error.value).startswith(f"{jar.name} of Bunny 1.0: not what {jars.sums} pins;")
    assert "below ~/.m2/repository" in str(error.value)


def test_other_sums_are_another_folder(tmp_path: Path) -> None:
    """New checksums use a new folder, so that jars are fetched again."""
    jars, _ = pinned(tmp_path)
    before = jars.home(tmp_path)
    jars.sums.write_text(jars.sums.read_text().replace("library", "other"))
    assert jars.home(tmp_path) != before


def test_without_maven_the_user_learns_how_to_get_it(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jars that are not cached need Maven."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemFault, match=r"Kafka .* is not installed: sudo apt-get install maven"):
        JARS.available()
    assert not own_cache.exists()


def test_every_jar_of_kafka_is_pinned() -> None:
    """Each has a whole SHA-512; the broker's version is the same in names, facts and pom."""
    assert all(len(bytes.fromhex(digest)) == 64 for digest in JARS.pinned.values())
    assert f"kafka_2.13-{VERSION}.jar" in JARS.pinned
    assert f"<version>{VERSION}</version>" in JARS.pom.read_text()
