"""Certificates for one deployment, made by openssl when it starts, and gone when it has ended."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mqperf.base.errors import SystemFault
from mqperf.hosts import HostFolder
from mqperf.lab.tool import Tool

OPENSSL = Tool("openssl", "openssl", packages=("openssl",))
"""Only plans with TLS need it: a host may lack it."""

DAYS = 400
"""For which they are good: longer than any sweep lasts."""

TIMEOUT_S = 60
CONFIG = "openssl.cnf"
_CONFIG = """\
[req]
distinguished_name = subject
[subject]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[nodes]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = {names}
"""
_NEW = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True, slots=True)
class Certificates:
    """In PEM: of an authority of the deployment's own, and of its nodes, with their key."""

    authority: str
    nodes: str
    key: str = field(repr=False)


def issued(host_folder: HostFolder, addresses: Sequence[str]) -> Certificates:
    """New ones for nodes at these addresses, made in a private folder on a host.

    Keys are readable for their owner only; that of the authority stays there.  Raises
    ``SystemFault`` when openssl is missing, or refuses.
    """
    OPENSSL.on("OpenSSL", host_folder.host)
    host_folder.host.make(host_folder.folder)
    names = ",".join(f"IP:{address}" for address in dict.fromkeys(addresses))
    host_folder.host.write(host_folder.folder / CONFIG, _CONFIG.format(names=names))
    authority, authority_key = (
        str(host_folder.folder / f"authority.{end}") for end in ("pem", "key")
    )
    nodes, nodes_key = (str(host_folder.folder / f"nodes.{end}") for end in ("pem", "key"))
    self_signed = ("-subj", "/CN=mqperf authority", "-extensions", "authority")
    _called(host_folder, *self_signed, "-keyout", authority_key, "-out", authority)
    signed = ("-extensions", "nodes", "-CA", authority, "-CAkey", authority_key)
    _called(host_folder, "-subj", "/CN=mqperf", *signed, "-keyout", nodes_key, "-out", nodes)
    made = (host_folder.host.read(Path(file)).decode() for file in (authority, nodes, nodes_key))
    return Certificates(*made)


def _called(host_folder: HostFolder, *arguments: str) -> None:
    config = ("-config", str(host_folder.folder / CONFIG))
    argv = [OPENSSL.program, *_NEW, *config, "-days", str(DAYS), *arguments]
    env = {"PATH": host_folder.host.path, "LANG": "C.UTF-8"}
    done = host_folder.host.run(argv, env=env, timeout_s=TIMEOUT_S)
    if done.returncode:
        raise SystemFault(f"openssl made no certificate: {' '.join(done.stderr.split())[-300:]}")
