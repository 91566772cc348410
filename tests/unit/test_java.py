"""Java's version and absence; small programs stand for other versions of it."""

from itertools import product
from pathlib import Path

import pytest

from mqperf.base.errors import SystemFault
from mqperf.hosts import LocalHost
from mqperf.lab.systems import SYSTEMS
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.columns import parameters
from mqperf.plan.file import parse_plan
from mqperf_java.lab.java import JavaSettings, installed_java

pytestmark = pytest.mark.starts_programs

HOST = LocalHost()


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def java(folder: Path, output: str) -> None:
    program = folder / "java"
    program.write_text(f"#!/bin/sh\necho '{output}' >&2\n")
    program.chmod(0o755)


def test_the_version_of_java_is_read(path: Path) -> None:
    """Suffixes such as -ea and vendors' words are accepted."""
    java(path, 'openjdk version "21.0.4-ea" 2024-07-16 LTS')
    assert installed_java(17, HOST).version == "21.0.4-ea"


@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_392", "9"])
def test_old_java_is_refused(path: Path, version: str) -> None:
    """The error has the version found, the version needed, and the command."""
    java(path, f'openjdk version "{version}"')
    with pytest.raises(SystemFault) as fault:
        installed_java(17, HOST)
    assert f"Java {version}, too old: 17 or later is needed" in str(fault.value)
    assert "sudo apt-get install default-jre-headless" in str(fault.value)


def test_missing_java_is_reported(path: Path) -> None:
    """The error has the command that installs it."""
    assert list(path.iterdir()) == []
    message = (
        "Java, of which 17 or later is needed, is not installed: sudo apt-get install default-jre"
    )
    with pytest.raises(SystemFault, match=message):
        installed_java(17, HOST)


def test_a_program_that_is_not_java_is_refused(path: Path) -> None:
    """A program named java without a version is refused."""
    java(path, "hello")
    with pytest.raises(SystemFault, match="does not report its version"):
        installed_java(17, HOST)


def test_a_command_keeps_to_its_folder(path: Path) -> None:
    """Heap and options are as set; temporary files are in the folder of the server."""
    java(path, 'openjdk version "17.0.1"')
    settings = JavaSettings(heap_mb=256, java_options="-XX:+UseSerialGC -Xmn2m")
    command = installed_java(17, HOST).command(Path("/here"), settings, {"x.y": 1})
    assert {"-XX:+UseSerialGC", "-Xmn2m"} <= set(command)
    assert {"-Xmx256m", "-Xms256m", "-XX:-UsePerfData", "-Dx.y=1"} <= set(command)
    assert "-Djava.io.tmpdir=/here" in command


@pytest.mark.parametrize("system", ["activemq", "artemis", "kafka"])
@pytest.mark.parametrize("option", ["-Dx=y", "-XX:ErrorFile=/tmp/x", "-javaagent:x.jar", "@file"])
def test_options_that_name_files_or_properties_are_refused(system: str, option: str) -> None:
    """For all systems in Java, before anything is started."""
    with pytest.raises(SystemFault, match="is no option of the virtual machine such as -XX"):
        SYSTEMS[system].check({"java_options": f"-Xmn2m {option}"})


@pytest.mark.parametrize(("system", "queues"), [("artemis", "classic"), ("kafka", "topic")])
def test_heap_and_options_may_be_lists(system: str, queues: str) -> None:
    """Each combination is a point with its own parameters."""
    text = f"""\
systems:
  {system}:
    topologies: [single]
    queues: [{queues}]
    settings: {{heap_mb: [256, 512], java_options: [-XX:+UseSerialGC, -XX:+UseG1GC]}}
test_cases: [notify]
load: {{green_threads: 1, duration_s: 1}}
"""
    cases = parse_plan(text, Path("here.yaml"), problems_of).cases()
    points = {(case.settings["heap_mb"], case.settings["java_options"]) for case in cases}
    assert points == set(product((256, 512), ("-XX:+UseSerialGC", "-XX:+UseG1GC")))
    assert {"heap_mb", "java_options"} <= {*parameters()}
