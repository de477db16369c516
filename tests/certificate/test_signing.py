"""Signatures against the `cryptography` package and the published DSSE encoding; each fault is told apart."""

import base64
import errno
import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from assay.certificate import certify, signing
from assay.certificate.record import Written
from assay.certificate.signing import generate_keys
from assay.certificate.verification import Verification
from assay.certificate.verify import verify
from assay.errors import InputError, UsageError
from tests.certificate.samples import assay, load, losses, save
from tests.data.files import write_rows

Envelope = dict[str, Any]


@pytest.fixture
def key(tmp_path: Path) -> Path:
    generate_keys(tmp_path / "key")
    return tmp_path / "key"


@pytest.fixture
def signed(tmp_path: Path, key: Path) -> Path:
    certify(losses(40), losses(40, 2), tmp_path / "c.json", sign_with=key)
    return tmp_path / "c.json"


def envelope_of(certificate: Path) -> Path:
    return certificate.with_name("c.dsse.json")


def changed(certificate: Path, **parts: Any) -> None:
    path = envelope_of(certificate)
    path.write_text(json.dumps(json.loads(path.read_text()) | parts), encoding="utf-8")


def checked(certificate: Path, key: Path) -> Verification:
    return verify(certificate, public_key=key.with_name(key.name + ".pub"))


def fault(certificate: Path, key: Path) -> str:
    """What is said of the signature; the exit code is that of an untrue certificate."""
    found = checked(certificate, key)
    assert found.exit_code == 4
    return next(str(f.found) for f in found.faults if f.field == "signature")


def test_the_encoding_is_the_published_example_of_dsse(monkeypatch: pytest.MonkeyPatch) -> None:
    # https://github.com/secure-systems-lab/dsse/blob/master/protocol.md
    monkeypatch.setattr(signing, "PAYLOAD_TYPE", "http://example.com/HelloWorld")
    assert signing._authenticated(b"hello world") == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_lengths_are_counted_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing, "PAYLOAD_TYPE", "tëxt")
    assert signing._authenticated("é".encode()) == "DSSEv1 5 tëxt 2 é".encode()


def test_a_good_signature_is_true_and_cryptography_agrees(signed: Path, key: Path) -> None:
    assert checked(signed, key).exit_code == 0
    assert "signature" in checked(signed, key).checks
    envelope = json.loads(envelope_of(signed).read_text())
    payload = base64.b64decode(envelope["payload"])
    kind = envelope["payloadType"].encode()
    public = serialization.load_pem_public_key((key.parent / "key.pub").read_bytes())
    assert isinstance(public, Ed25519PublicKey)
    message = b" ".join([b"DSSEv1", b"%d" % len(kind), kind, b"%d" % len(payload), payload])
    public.verify(base64.b64decode(envelope["signatures"][0]["sig"]), message)  # raises if it does not fit
    assert payload == signed.read_bytes()


def test_a_wrong_key_is_told(signed: Path, key: Path) -> None:
    generate_keys(key.with_name("other"))
    assert "signed by another key than" in fault(signed, key.with_name("other"))


def test_a_stripped_signature_is_told(signed: Path, key: Path) -> None:
    changed(signed, signatures=[])
    assert "the signature was stripped" in fault(signed, key)


def test_a_missing_envelope_is_told(signed: Path, key: Path) -> None:
    envelope_of(signed).unlink()
    assert "there is no envelope" in fault(signed, key)


def test_a_changed_certificate_is_told_even_when_its_digest_is_right(signed: Path, key: Path) -> None:
    save(signed, load(signed) | {"systems": load(signed)["systems"] | {"baseline": _other_file(signed)}})
    assert verify(signed).true  # a field that only the signature protects
    assert "the signed payload is not this certificate" in fault(signed, key)


def _other_file(certificate: Path) -> dict[str, Any]:
    system: dict[str, Any] = load(certificate)["systems"]["baseline"]
    return system | {"file": "another.csv"}


def test_a_changed_payload_is_told(signed: Path, key: Path) -> None:
    save(signed, load(signed) | {"systems": load(signed)["systems"] | {"baseline": _other_file(signed)}})
    changed(signed, payload=base64.b64encode(signed.read_bytes()).decode())
    assert "it was changed after signing" in fault(signed, key)


def test_a_signature_by_another_key_under_this_keys_name_does_not_fit(signed: Path, key: Path) -> None:
    envelope = json.loads(envelope_of(signed).read_text())
    foreign = Ed25519PrivateKey.generate().sign(signing._authenticated(signed.read_bytes()))
    forged = {"keyid": envelope["signatures"][0]["keyid"], "sig": base64.b64encode(foreign).decode()}
    changed(signed, signatures=[forged])
    assert "it was changed after signing" in fault(signed, key)
    changed(signed, signatures=[forged, *envelope["signatures"]])  # one that fits is enough
    assert checked(signed, key).true


def test_another_type_of_payload_is_told(signed: Path, key: Path) -> None:
    changed(signed, payloadType="text/plain")
    assert "not this certificate" in fault(signed, key)


@pytest.mark.parametrize(
    "envelope",
    [b"", b"\xff", b"[]", b"3", b"{}", b"[" * 100_000, b'{"payload": 1, "signatures": [], "payloadType": ""}']
    + [b'{"payload": "", "payloadType": "", "signatures": %b}' % text for text in (b"7", b'"x"', b"{}", b"true")],
)
def test_an_envelope_that_cannot_be_read_is_told(envelope: bytes, signed: Path, key: Path) -> None:
    envelope_of(signed).write_bytes(envelope)
    assert "the envelope cannot be read" in fault(signed, key)


@pytest.mark.parametrize("signature", [None, 5, {}, {"keyid": None}, {"sig": "x"}])
def test_a_signature_without_this_keys_name_is_by_another_key(signature: Any, signed: Path, key: Path) -> None:
    changed(signed, signatures=[signature])
    assert "signed by another key" in fault(signed, key)


@pytest.mark.parametrize("text", ["", "?", "AAAA", None, 7])
def test_a_signature_that_is_none_does_not_fit(text: Any, signed: Path, key: Path) -> None:
    name = json.loads(envelope_of(signed).read_text())["signatures"][0]["keyid"]
    changed(signed, signatures=[{"keyid": name, "sig": text}])
    assert "it was changed after signing" in fault(signed, key)


def test_an_envelope_that_is_a_folder_is_refused(signed: Path, key: Path) -> None:
    envelope_of(signed).unlink()
    envelope_of(signed).mkdir()
    with pytest.raises(InputError, match=r"c\.dsse\.json: a directory, not a regular file"):
        checked(signed, key)


def test_private_keys_are_for_their_owner_only_and_never_overwritten(tmp_path: Path) -> None:
    public = generate_keys(tmp_path / "key")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    before = (tmp_path / "key").read_bytes(), public.read_bytes()
    with pytest.raises(UsageError, match="never overwritten"):
        generate_keys(tmp_path / "key")
    (tmp_path / "key").unlink()
    with pytest.raises(UsageError, match="never overwritten"):
        generate_keys(tmp_path / "key")  # its public half is still there
    assert public.read_bytes() == before[1]
    assert not (tmp_path / "key").exists()


def test_a_key_is_not_written_through_a_dangling_link(tmp_path: Path) -> None:
    (tmp_path / "key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="cannot be written"):
        generate_keys(tmp_path / "key")
    assert not (tmp_path / "elsewhere").exists()


def _garbage(path: Path) -> None:
    path.write_text("not a key", encoding="utf-8")


def _curve(path: Path) -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    path.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )


def _locked(path: Path) -> None:
    private = Ed25519PrivateKey.generate()
    lock = serialization.BestAvailableEncryption(b"secret")
    path.write_bytes(private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock))


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (_garbage, "not a private key"),
        (_locked, "not a private key without password"),
        (_curve, "not an Ed25519 key"),
        (Path.mkdir, "a directory, not a regular file"),
        (lambda _: None, "cannot be opened"),
    ],
)
def test_what_is_no_private_key_is_refused_before_anything_is_written(
    write: Callable[[Path], None], message: str, tmp_path: Path
) -> None:
    write(tmp_path / "key")
    with pytest.raises(InputError, match=message):
        certify(losses(20), losses(20, 2), tmp_path / "c.json", sign_with=tmp_path / "key")
    assert not (tmp_path / "c.json").exists()


def test_what_is_no_public_key_is_refused(signed: Path, key: Path) -> None:
    with pytest.raises(InputError, match="not a public key"):
        verify(signed, public_key=key)  # the private one
    curve = ec.generate_private_key(ec.SECP256R1()).public_key()
    other = key.with_name("curve.pub")
    other.write_bytes(curve.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    with pytest.raises(InputError, match="not an Ed25519 key"):
        verify(signed, public_key=other)


def test_without_the_package_the_message_says_what_to_install(
    signed: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    for use in (
        lambda: generate_keys(key.with_name("new")),
        lambda: certify(losses(20), losses(20, 2), signed.with_name("d.json"), sign_with=key),
        lambda: checked(signed, key),
    ):
        with pytest.raises(UsageError, match=r"pip install 'assay-eval\[sign\]'") as refused:
            use()
        assert refused.value.exit_code == 2
    assert verify(signed).true  # needs no package
    assert not signed.with_name("d.json").exists()


def test_a_certificate_issued_again_without_a_key_does_not_keep_the_old_signature(signed: Path, key: Path) -> None:
    envelope = signed.with_name("c.dsse.json")
    assert envelope.exists()
    issued = certify(losses(20), losses(20, 3), signed)
    assert not envelope.exists()
    assert "not signed; removed c.dsse.json, the signature of the certificate that was replaced" in str(issued)
    assert fault(signed, key) == "not signed: there is no envelope beside the certificate"
    assert verify(signed).true


def test_the_same_bytes_issued_again_keep_their_signature(signed: Path, key: Path) -> None:
    before = signed.read_bytes()
    issued = certify(losses(40), losses(40, 2), signed)
    assert signed.read_bytes() == before
    assert "c.dsse.json still fits: these are the bytes that were signed" in str(issued)
    assert checked(signed, key).true


def test_signed_again_nothing_is_withdrawn(signed: Path, key: Path) -> None:
    issued = certify(losses(20), losses(20, 3), signed, sign_with=key)
    assert issued.written == Written(signed)
    assert checked(signed, key).true


@pytest.mark.parametrize("content", [b"mine", b"{}", b'{"payload": "e30=", "payloadType": "text/plain"}', b"[" * 9_999])
def test_a_file_that_is_no_envelope_of_ours_is_told_of_and_left(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "c.dsse.json").write_bytes(content)
    issued = certify(losses(20), losses(20, 3), tmp_path / "c.json")
    assert "c.dsse.json is not an envelope of ours and was left as it is" in str(issued)
    assert (tmp_path / "c.dsse.json").read_bytes() == content


def test_without_a_key_verify_tells_of_an_envelope(signed: Path) -> None:
    beside = "signature not checked: c.dsse.json is beside it; give the public key with `public_key=PUB`"
    assert beside in verify(signed).checks
    save(signed, load(signed) | {"measure": load(signed)["measure"] | {"task": "another"}})
    found = verify(signed)
    assert "not signed: c.dsse.json beside it is not a signature of this certificate" in found.checks
    assert found.true  # as any certificate without a signature is; --key insists on one


def test_on_the_command_line_what_became_of_a_signature_is_said_with_json_too(signed: Path, tmp_path: Path) -> None:
    for name, shift in (("a.csv", 2), ("b.csv", 3)):
        write_rows(tmp_path / name, losses(20, shift))
    ran = assay("certify", tmp_path / "a.csv", tmp_path / "b.csv", "-o", signed, "--json")
    assert json.loads(ran.out)["schema"] == "assay/certificate/3"
    assert ran.err.startswith("signature: not signed; removed c.dsse.json")


def test_a_signature_that_cannot_be_withdrawn_is_an_error_that_names_it(
    signed: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new certificate is there; the old signature beside it does not fit, and must not pass for its own."""
    before, plain = signed.read_bytes(), Path.unlink

    def unlink(self: Path, *, missing_ok: bool = False) -> None:
        if self == envelope_of(signed):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(self))
        plain(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink)
    with pytest.raises(InputError) as caught:
        certify(losses(20), losses(20, 3), signed)
    why = "cannot be removed (Operation not permitted); remove it, it does not belong to what was written"
    assert str(caught.value) == f"{envelope_of(signed)}: {why}."
    assert signed.read_bytes() != before
    assert sorted(path.name for path in signed.parent.glob("c.*")) == ["c.dsse.json", "c.evidence.parquet", "c.json"]
    assert fault(signed, key) == "the signed payload is not this certificate"
