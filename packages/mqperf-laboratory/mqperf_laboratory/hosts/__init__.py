"""A private laboratory: hosts which are namespaces of this machine, each with its own sshd."""

from mqperf_laboratory.hosts.namespaces import Laboratory, laboratory

__all__ = ["Laboratory", "laboratory"]
