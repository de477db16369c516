"""The canonical bytes of a certificate, their digest, and Ed25519 signatures over them.

The same content is always the same bytes, and the digest covers every field. A signature is a DSSE-style envelope
beside the certificate; it holds the payload itself, so that a stripped signature, a foreign key and a changed payload
can be told apart. The `cryptography` package comes with the extra `sign`.
"""

import base64
import binascii
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from assay.errors import InputError, UsageError
from assay.files.reading import SETTINGS, read_bytes
from assay.files.writing import remove_parts, remove_whole, together, write_bytes, write_new

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PAYLOAD_TYPE = "application/vnd.assay.certificate+json"


def canonical_bytes(document: dict[str, Any]) -> bytes:
    """Serialize a document: sorted keys, two spaces, UTF-8, one newline at the end."""
    try:
        text = json.dumps(document, sort_keys=True, ensure_ascii=False, allow_nan=False)
        return msgspec.json.format(text.encode(), indent=2) + b"\n"  # with an indent, json would write it in Python
    except ValueError as error:  # a number that is none, or a name that is not UTF-8
        raise InputError(
            f"a certificate cannot hold this ({error}); check the names and the size of the values."
        ) from error


def digest_of(document: dict[str, Any]) -> str:
    """The sha256 of everything but the digest itself."""
    content = {name: value for name, value in document.items() if name != "digest"}
    return "sha256:" + hashlib.sha256(canonical_bytes(content)).hexdigest()


def parsed(data: bytes, label: str) -> dict[str, Any]:
    """Parse a file; duplicate keys are refused, since readers could see different certificates."""
    try:
        document = json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{label}: not a certificate, {error}; give a file that `assay certify` wrote.") from error
    if not isinstance(document, dict) or "schema" not in document:
        raise InputError(f"{label}: not a certificate, no field 'schema'; give a file that `assay certify` wrote.")
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice!r} stands twice")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


# ---------------------------------------------------------------------------------------------------- signatures


def envelope_path(certificate: Path) -> Path:
    """CERT.json → CERT.dsse.json."""
    return certificate.with_name(certificate.stem + ".dsse.json")


def generate_keys(private: Path) -> Path:
    """Write a new private key (mode 600, never over an existing file) and its public key beside it.

    A private key without its public key, as a kill between the two leaves it, is kept and completed.
    """
    crypto = _cryptography()
    public = private.with_name(private.name + ".pub")
    if public.exists():
        raise UsageError(f"{public} exists, and a key is never overwritten; name another file.")
    there = private.exists()
    key = _kept(private) if there else crypto.Ed25519PrivateKey.generate()
    with together():  # the public half is on the disk before the private one gets its name, and gets its own after it
        half = key.public_key().public_bytes(crypto.Encoding.PEM, crypto.PublicFormat.SubjectPublicKeyInfo)
        write_bytes(public, half)
        if not there:
            secret = key.private_bytes(crypto.Encoding.PEM, crypto.PrivateFormat.PKCS8, crypto.NoEncryption())
            write_new(private, secret, 0o600)
    return public


def _kept(private: Path) -> "Ed25519PrivateKey":
    remove_parts(private)
    try:
        return load_private_key(private)
    except InputError as error:
        raise UsageError(f"{private} exists, and a key is never overwritten; name another file.") from error


def load_private_key(path: Path) -> "Ed25519PrivateKey":
    crypto = _cryptography()
    try:
        key = crypto.load_pem_private_key(read_bytes(path, SETTINGS), password=None)
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: not a private key without password; make one with `assay keygen`.") from error
    if not isinstance(key, crypto.Ed25519PrivateKey):
        raise InputError(f"{path}: not an Ed25519 key; make one with `assay keygen`.")
    return key


def load_public_key(path: Path) -> "Ed25519PublicKey":
    crypto = _cryptography()
    try:
        key = crypto.load_pem_public_key(read_bytes(path, SETTINGS))
    except ValueError as error:
        raise InputError(f"{path}: not a public key; give the .pub file that `assay keygen` wrote.") from error
    if not isinstance(key, crypto.Ed25519PublicKey):
        raise InputError(f"{path}: not an Ed25519 key; give the .pub file that `assay keygen` wrote.")
    return key


def sign(payload: bytes, key: "Ed25519PrivateKey") -> bytes:
    """The envelope of a payload."""
    signature = key.sign(_authenticated(payload))
    envelope = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": key_id(key.public_key()), "sig": base64.b64encode(signature).decode()}],
    }
    return (json.dumps(envelope, indent=2) + "\n").encode()


def withdraw_envelope(path: Path, certificate: bytes) -> str | None:
    """Remove the envelope of a certificate that was issued again unsigned; return what happened to it, in words.

    An outdated envelope must not stay beside the certificate; one that still fits may, as the same bytes were signed.
    """
    if not path.exists():
        return None
    found = signed_payload(read_bytes(path, SETTINGS))
    if found == certificate:
        return f"{path.name} still fits: these are the bytes that were signed"
    if found is None:
        return f"not signed; {path.name} is not an envelope of ours and was left as it is"
    remove_whole(path)
    return (
        f"not signed; removed {path.name}, the signature of the certificate that was replaced (`sign_with=KEY` signs)"
    )


def signed_payload(envelope: bytes) -> bytes | None:
    """The payload of an envelope of ours, by whichever key; ``None`` if it is not ours."""
    try:
        content = json.loads(envelope)
        return base64.b64decode(content["payload"], validate=True) if content["payloadType"] == PAYLOAD_TYPE else None
    except (ValueError, KeyError, TypeError, RecursionError, binascii.Error):
        return None


def signature_fault(certificate: bytes, envelope: bytes | None, key: "Ed25519PublicKey") -> str | None:
    """What is wrong with the signature of a certificate; ``None`` if it is good."""
    if envelope is None:
        return "not signed: there is no envelope beside the certificate"
    try:
        content = json.loads(envelope)
        payload = base64.b64decode(content["payload"], validate=True)
        signatures = content["signatures"]
        kind = content["payloadType"]
    except (ValueError, KeyError, TypeError, RecursionError, binascii.Error):
        return "the envelope cannot be read"
    if not isinstance(signatures, list):
        return "the envelope cannot be read"
    if not signatures:
        return "not signed: the signature was stripped from the envelope"
    if payload != certificate or kind != PAYLOAD_TYPE:
        return "the signed payload is not this certificate"
    return _key_fault(payload, signatures, key)


def _key_fault(payload: bytes, signatures: list[Any], key: "Ed25519PublicKey") -> str | None:
    wanted = key_id(key)
    mine = [s for s in signatures if isinstance(s, dict) and s.get("keyid") == wanted]
    if not mine:
        return f"signed by another key than {wanted}"
    if any(_fits(payload, signature, key) for signature in mine):
        return None
    return "the signature does not fit the payload: it was changed after signing"


def _fits(payload: bytes, signature: dict[str, Any], key: "Ed25519PublicKey") -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(base64.b64decode(signature["sig"], validate=True), _authenticated(payload))
    except (InvalidSignature, KeyError, TypeError, ValueError):
        return False
    return True


def key_id(key: "Ed25519PublicKey") -> str:
    """The first 16 hex digits of the sha256 of the raw public key."""
    crypto = _cryptography()
    return hashlib.sha256(key.public_bytes(crypto.Encoding.Raw, crypto.PublicFormat.Raw)).hexdigest()[:16]


def _authenticated(payload: bytes) -> bytes:
    """DSSE's pre-authentication encoding: type and payload, each with its length."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


class _Cryptography:
    """The names we use of the package, imported late."""

    def __init__(self) -> None:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519

        self.Ed25519PrivateKey = ed25519.Ed25519PrivateKey
        self.Ed25519PublicKey = ed25519.Ed25519PublicKey
        self.Encoding = serialization.Encoding
        self.PrivateFormat = serialization.PrivateFormat
        self.PublicFormat = serialization.PublicFormat
        self.NoEncryption = serialization.NoEncryption
        self.load_pem_private_key = serialization.load_pem_private_key
        self.load_pem_public_key = serialization.load_pem_public_key


def _cryptography() -> _Cryptography:
    try:
        return _Cryptography()
    except ImportError as error:
        raise UsageError("signing needs the package cryptography: pip install 'assay-eval[sign]'.") from error
