"""RabbitMQ's PerfTest, fetched with Maven and pinned, measured in a window while it runs."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import psutil
from stressing.load import Measured, cpu_s

from mqperf.hosts import LocalHost
from mqperf_java.hosts.archive import Archive, fetched
from mqperf_java.lab.java import ENVIRONMENT, installed_java

PINS = Path(__file__).with_name("perftest.txt")
"""A line for each jar that PerfTest needs: its Maven coordinates, and its SHA-512."""

OLDEST_JAVA = 11
LINE = re.compile(r"time ([0-9.]+) s.*received: ([0-9]+) msg/s")


def class_path() -> str:
    """Return the class path of the jars, fetched if they are not in the cache."""
    jars = []
    for line in PINS.read_text().splitlines():
        coordinates, sha512 = line.split()
        group, artifact, version = coordinates.split(":")
        archive = Archive(group, artifact, version, sha512, extension="jar", classifier="")
        jars.append(fetched(archive) / archive.file)
    return ":".join(map(str, jars))


def measured(url: str, arguments: Sequence[str], warmup_s: int, seconds: int) -> Measured:
    """Run PerfTest; return its rate and CPU, from its warm-up to its end.

    It prints once a second how much it received; CPU is read at these instants.
    """
    java = installed_java(OLDEST_JAVA, LocalHost())
    argv = [java.program, "-cp", class_path(), "com.rabbitmq.perf.PerfTest", *arguments]
    # the URL has a password, so it is not passed as an argument
    environment = {**ENVIRONMENT, "URI": url}
    with subprocess.Popen(
        [*argv, "--time", str(seconds + 2)], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            return _window(process, warmup_s, seconds)
        finally:
            process.kill()


def _window(process: "subprocess.Popen[str]", warmup_s: int, seconds: int) -> Measured:
    watched = psutil.Process(process.pid)
    began = before = last = received = 0.0
    for line in process.stdout or ():
        if (match := LINE.search(line)) is None:
            continue
        at, rate = float(match[1]), float(match[2])
        if at < warmup_s:
            continue
        if not began:
            began, before = at, cpu_s(watched)
        else:
            received += rate * (at - last)
        last = at
        if at >= seconds:
            return Measured(received / (at - began), (cpu_s(watched) - before) / received)
    raise RuntimeError(f"PerfTest ended after {last:g} s with exit code {process.wait()}")
