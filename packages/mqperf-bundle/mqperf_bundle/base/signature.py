"""Signatures by SSH keys: made and checked by ``ssh-keygen -Y`` of OpenSSH (8.1 or later)."""

from contextlib import suppress
from pathlib import Path

from mqperf.base import processes
from mqperf.base.errors import RecordError
from mqperf.base.processes.piped import piped

NAMESPACE = "mqperf-bundle"
"""What these signatures are for: one made for a commit or a file is none of a bundle."""


def sign(file: Path, key: Path) -> None:
    """Write the signature of a file beside it, as ``FILE.sig``.

    ``key`` is a private key, or the public one of a key that an agent holds.  Raises
    ``RecordError`` when it cannot sign.
    """
    done = processes.run(["ssh-keygen", "-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(file)])
    if done.returncode:
        raise RecordError(
            f"{key}: cannot sign: {_last(done.stderr)}; give a private key without a passphrase, or"
            " the public one of a key in ssh-agent"
        )


def signer(file: Path, signature: Path, allowed: Path | None) -> str:
    """Who signed the file, in words.

    ``allowed`` is a file of allowed signers, as ``ssh-keygen`` has it; without it the key alone is
    known.  Raises ``RecordError`` for a wrong signature, and for one of nobody who is allowed.
    """
    if allowed is None:
        words = _asked("check-novalidate", file, signature)
        return f"the key {_key(words)}; whose it is, --allowed-signers tells"
    try:
        names = _asked("find-principals", file, signature, "-f", str(allowed))
    except RecordError:
        raise RecordError(f"{allowed}: names nobody whose key signed it") from None
    name = names.splitlines()[0].strip()
    words = _asked("verify", file, signature, "-f", str(allowed), "-I", name)
    return f"{name}, by the key {_key(words)}"


def _asked(what: str, file: Path, signature: Path, *more: str) -> str:
    """What ``ssh-keygen`` says of a good signature."""
    use = () if what == "find-principals" else ("-n", NAMESPACE)
    argv = ["ssh-keygen", "-Y", what, *use, "-s", str(signature), *more]
    with piped(argv) as program:
        with suppress(BrokenPipeError):
            program.feed.write(file.read_bytes())
        program.feed.close()
        words = program.output.read().decode(errors="replace")
        if program.link.wait(None):
            raise RecordError(_last(f"{words}\n{program.complaints()}"))
    return words


def _key(words: str) -> str:
    """The kind and the fingerprint of the key: ``ED25519 SHA256:...``."""
    return words.strip().rpartition(" with ")[2].replace(" key ", " ")


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["it does not say why"])[-1].strip()
