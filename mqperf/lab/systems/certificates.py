"""Certificates for one deployment, issued by openssl at its start, and removed at its end."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mqperf.base.errors import SystemFault
from mqperf.hosts import HostFolder
from mqperf.lab.tool import Tool

OPENSSL = Tool("openssl", "openssl", packages=("openssl",))
"""Needed by plans with TLS only."""

DAYS = 400
"""Validity of certificates, longer than any sweep."""

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
_REQUEST = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True, slots=True)
class Certificates:
    """Certificates of a deployment's own authority and of its nodes, and their key; in PEM."""

    authority: str
    nodes: str
    key: str = field(repr=False)


def issued(host_folder: HostFolder, addresses: Sequence[str]) -> Certificates:
    """Issue certificates for nodes at these addresses, in a private folder on a host.

    Keys are readable for their owner only; the key of the authority is not returned.  Raises
    ``SystemFault`` when openssl is missing, or fails.
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
    _openssl(host_folder, *self_signed, "-keyout", authority_key, "-out", authority)
    signed = ("-extensions", "nodes", "-CA", authority, "-CAkey", authority_key)
    _openssl(host_folder, "-subj", "/CN=mqperf", *signed, "-keyout", nodes_key, "-out", nodes)
    texts = (host_folder.host.read(Path(file)).decode() for file in (authority, nodes, nodes_key))
    return Certificates(*texts)


def _openssl(host_folder: HostFolder, *arguments: str) -> None:
    config = ("-config", str(host_folder.folder / CONFIG))
    argv = [OPENSSL.program, *_REQUEST, *config, "-days", str(DAYS), *arguments]
    env = {"PATH": host_folder.host.path, "LANG": "C.UTF-8"}
    done = host_folder.host.run(argv, env=env, timeout_s=TIMEOUT_S)
    if done.returncode:
        raise SystemFault(f"openssl made no certificate: {' '.join(done.stderr.split())[-300:]}")
