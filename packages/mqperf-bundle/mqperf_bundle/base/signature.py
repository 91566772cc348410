"""Signatures by SSH keys: made and checked by ``ssh-keygen -Y`` of OpenSSH (8.1 or later)."""

from contextlib import suppress
from pathlib import Path

from mqperf.base import processes
from mqperf.base.errors import RecordError
from mqperf.base.processes.piped import piped

NAMESPACE = "mqperf-bundle"
"""Namespace of the signatures, so that one of a commit or a file is not valid for a bundle."""


def sign(file: Path, key: Path) -> None:
    """Write the signature of a file beside it, as ``FILE.sig``.

    ``key`` is a private key, or the public key of one in an agent.  Raises ``RecordError`` when it
    cannot sign.
    """
    done = processes.run(["ssh-keygen", "-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(file)])
    if done.returncode:
        raise RecordError(
            f"{key}: cannot sign: {_last(done.stderr)}; give a private key without a passphrase, or"
            " the public one of a key in ssh-agent"
        )


def signer(file: Path, signature: Path, allowed: Path | None) -> str:
    """Return who signed the file, as text.

    ``allowed`` is a file of allowed signers in the format of ``ssh-keygen``; without it only the
    key is returned.  Raises ``RecordError`` for a wrong signature, and for a signer not allowed.
    """
    if allowed is None:
        output = _ssh_keygen("check-novalidate", file, signature)
        return f"the key {_key(output)}; --allowed-signers shows whose it is"
    try:
        names = _ssh_keygen("find-principals", file, signature, "-f", str(allowed))
    except RecordError:
        raise RecordError(f"{allowed}: names nobody whose key signed it") from None
    name = names.splitlines()[0].strip()
    output = _ssh_keygen("verify", file, signature, "-f", str(allowed), "-I", name)
    return f"{name}, by the key {_key(output)}"


def _ssh_keygen(action: str, file: Path, signature: Path, *options: str) -> str:
    """Return the output of ``ssh-keygen -Y``; raises ``RecordError`` for a wrong signature."""
    namespace = () if action == "find-principals" else ("-n", NAMESPACE)
    argv = ["ssh-keygen", "-Y", action, *namespace, "-s", str(signature), *options]
    with piped(argv) as program:
        with suppress(BrokenPipeError):
            program.feed.write(file.read_bytes())
        program.feed.close()
        output = program.output.read().decode(errors="replace")
        if program.link.wait(None):
            raise RecordError(_last(f"{output}\n{program.complaints()}"))
    return output


def _key(output: str) -> str:
    """Return the type and the fingerprint of the key: ``ED25519 SHA256:...``."""
    return output.strip().rpartition(" with ")[2].replace(" key ", " ")


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["it does not say why"])[-1].strip()
