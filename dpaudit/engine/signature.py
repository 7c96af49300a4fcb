"""Signatures of run files by the keys of SSH: ``ssh-keygen -Y`` makes them and checks them, here or by hand."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from shutil import which

from dpaudit.engine.files import write_atomically
from dpaudit.errors import InputError, ToolFault

__all__ = ["check_key", "sign", "signature_of", "signer"]

NAMESPACE = "dpaudit"
"""The purpose of the signatures: one that was made for another purpose is refused."""
_PROGRAM = "ssh-keygen"
_LONGEST = 300


def signature_of(path: Path) -> Path:
    """Return the file of a run file's signature."""
    return path.with_name(path.name + ".sig")


def check_key(key: str) -> None:
    """Raise `InputError` unless there is a file of that name, and what signs with it."""
    if not Path(key).is_file():
        raise InputError.of("sign", key, "the file of an SSH key", "ssh-keygen -t ed25519 makes one")
    _find()


def sign(path: Path, key: str) -> Path:
    """Sign a file and return the file of the signature.

    Raises
    ------
    InputError
        If ``ssh-keygen`` cannot sign with the key.
    """
    done = _run(["sign", "-q", "-f", key, "-n", NAMESPACE], path)
    if done.returncode or not done.stdout:
        raise InputError("{sign} could not be used: {told}", names=("sign",), told=_told(done))
    write_atomically(signature_of(path), done.stdout)
    return signature_of(path)


def signer(path: Path, signers: str) -> str:
    """Return the name of the one of some signers who signed a file.

    Parameters
    ----------
    path : Path
        The file.
    signers : str
        A file of allowed signers, a name and a public key a line; see ``man ssh-keygen``.

    Raises
    ------
    InputError
        If there is no such file of signers.
    ToolFault
        If there is no signature, or it is of nobody among them, or of other bytes.
    """
    if not Path(signers).is_file():
        raise InputError.of("signers", signers, "a file of names and public keys, a line each")
    signature = signature_of(path)
    if not signature.is_file():
        raise ToolFault(f"{path} is not signed: there is no {signature.name} beside it")
    found = _run(["find-principals", "-s", str(signature), "-f", signers])
    names = found.stdout.decode(errors="replace").split("\n")
    if found.returncode or not names[0]:
        raise ToolFault(f"{signature} is of nobody in {signers}: {_told(found)}")
    name = names[0].split(",")[0]
    words = ["verify", "-f", signers, "-I", name, "-n", NAMESPACE, "-s", str(signature)]
    checked = _run(words, path)
    if checked.returncode:
        raise ToolFault(f"{signature} is not a signature of {path} as it is: {_told(checked)}")
    return name


def _find() -> str:
    program = which(_PROGRAM)
    if program is None:
        raise InputError(f"signatures need {_PROGRAM}, which is part of OpenSSH and was not found")
    return program


def _run(words: Sequence[str], path: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run ``ssh-keygen -Y`` on the bytes of a file."""
    data = path.read_bytes() if path is not None else b""
    return subprocess.run([_find(), "-Y", *words], input=data, capture_output=True, check=False)


def _told(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return what the program said, in short."""
    return (done.stderr or done.stdout).decode(errors="replace").strip()[:_LONGEST] or f"status {done.returncode}"
