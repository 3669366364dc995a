"""Certificates of a simulated lab: a CA of its own, one certificate for its servers, one for its
clients (which is good for a collector's server, too). Made at each start."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from labtests.core.private_files import write_private
from labtests.simlab.folder import CA, CERTIFICATE, KEY, LOOPBACK

_DAYS = 365


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, as PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """Signs for one lab. Everybody who has no file of it is a stranger."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named("labtests simulated lab")
        made = _builder(self._name, self._name, self._key).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        self._certificate = made.sign(self._key, hashes.SHA256())
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM)

    def pair(self, name: str) -> Pair:
        """One for this name, on this machine's loopback."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.DNSName("localhost"), x509.IPAddress(ip_address(LOOPBACK))]
        made = _builder(_named(name), self._name, key).add_extension(
            x509.SubjectAlternativeName(names), critical=False
        )
        return Pair(
            made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM),
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ),
        )

    def write(self, directory: Path, client: Pair) -> None:
        """What a collector needs is in the lab's folder."""
        for name, pem in ((CA, self.pem), (CERTIFICATE, client.certificate), (KEY, client.key)):
            write_private(directory / name, pem.decode("ascii"))


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=_DAYS))
    )
