"""Why a device cannot be reached, in the words of the person who has to fix it."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from shlex import quote

import paramiko
from paramiko.ssh_exception import (
    AuthenticationException,
    ChannelException,
    IncompatiblePeer,
    NoValidConnectionsError,
    PasswordRequiredException,
    ProxyCommandFailure,
)

from labtests.core.errors import DeviceError, HostKeyRefused, LoginRefused, Unreachable
from labtests.transport.ssh.algorithms import mismatch
from labtests.transport.ssh.hop import Hop
from labtests.transport.ssh.host_keys import HostKeyProblem
from labtests.transport.ssh.key_lists import Unbelieved
from labtests.transport.ssh.wire import Unanswered


@dataclass(frozen=True, slots=True)
class FailurePlace:
    """Where it went wrong: at this hop on the way to the device, reached through another one."""

    device: str
    hop: Hop
    last: bool
    through: Hop | None

    @property
    def what(self) -> str:
        """The host, and its part in the way."""
        return self._in_its_part(self.hop.address)

    @property
    def name(self) -> str:
        """The same without the port, of which no name server knows."""
        return self._in_its_part(self.hop.host)

    def _in_its_part(self, host: str) -> str:
        return host if self.last else f"jump host {host}"


def explained(error: Exception, place: FailurePlace) -> DeviceError:
    """The same failure as one of labtests' errors."""
    wire = place.hop.wire
    for raised, kind, words in _EXPLANATIONS:
        if isinstance(error, raised):
            return kind(place.device, place.hop.command, *words(error, place))
    if isinstance(error, paramiko.SSHException) and wire is not None and wire.is_active():
        if wire.has_begun:
            # only the login was the matter: paramiko reports the last key type it tried a file as,
            # or that it had nothing to offer
            none = AuthenticationException("no key or password to offer was accepted")
            return explained(none, place)
        return Unreachable(place.device, place.hop.command, *_never_begun(place))
    return Unreachable(place.device, place.hop.command, *_unreachable(error, place))


Words = tuple[str, str]
"""What is wrong, and what to do about it."""


def _host_key(error: HostKeyProblem, place: FailurePlace) -> Words:
    trust = place.hop.known_hosts
    files = (error.file, *trust.place.files, *trust.place.system)
    file = quote(next((str(each) for each in files if each is not None), "a known_hosts file"))
    scan = _keyscan(place.hop)
    fingerprint = f"{error.key.get_name()} {error.key.fingerprint}"
    if error.why == "revoked":
        return (
            f"{place.what} shows a host key that is marked @revoked, or in RevokedHostKeys: "
            f"{fingerprint}",
            "give the device a new host key on its console; nobody should trust this one",
        )
    if error.why == "changed":
        return (
            f"{place.what} has another host key than {file} says: it now shows {fingerprint}. "
            "Either it was reinstalled or somebody sits in between",
            f"compare the fingerprint on the device's console; if it is right, "
            f"ssh-keygen -R {quote(trust.name)} -f {file} and learn the new one with "
            f"{scan} >> {file}",
        )
    if not trust.place.files:
        return (
            f"the host key of {place.what} is unknown: {fingerprint}, and UserKnownHostsFile of "
            "your ssh_config names no file that it could be in",
            "name one there, or `known_hosts` in the testbed file; compare the fingerprint on the "
            f"device's console, and write down there what {scan} says",
        )
    return (
        f"the host key of {place.what} is unknown: {fingerprint} is not in {file}",
        f"compare the fingerprint on the device's console, then {scan} >> {file}; "
        "or say `host_keys: accept-new` in the testbed file",
    )


def _unbelieved(error: Unbelieved, place: FailurePlace) -> Words:
    problem, _, remedy = str(error).partition("\n  remedy: ")
    return problem, remedy


def _keyscan(hop: Hop) -> str:
    return f"ssh-keyscan -p {hop.port} {quote(hop.host)}"


def _login(error: AuthenticationException, place: FailurePlace) -> Words:
    user = place.hop.user
    return (
        f"{place.what} refused the login as {user!r}: {error or 'no reason given'}",
        "check user, key_file and password_env in the testbed file, and the ssh-agent "
        "(ssh-add -l); try the command by hand",
    )


def _key_locked(error: PasswordRequiredException, place: FailurePlace) -> Words:
    return (
        f"the private key for {place.what} is locked with a passphrase",
        "load it into the ssh-agent: ssh-add KEYFILE",
    )


def _jump(error: ChannelException, place: FailurePlace) -> Words:
    through = place.through.address if place.through else "the jump host"
    return (
        f"jump host {through} could not reach {place.hop.address} ({error.text})",
        f"log in to {through} and try it from there; forwarding must be allowed "
        "(AllowTcpForwarding in its sshd_config)",
    )


def _incompatible(error: IncompatiblePeer, place: FailurePlace) -> Words:
    wire = place.hop.wire
    found = mismatch(str(error), getattr(wire, "offered", {}), wire)
    problem = f"{place.what} and this side have {found.problem}"
    return problem, found.remedy


def _name(error: socket.gaierror, place: FailurePlace) -> Words:
    return (
        f"cannot resolve {place.name} ({error.strerror})",
        "check `host` in the testbed file against DNS, /etc/hosts and ~/.ssh/config",
    )


def _proxy(error: ProxyCommandFailure, place: FailurePlace) -> Words:
    return (
        f"the ProxyCommand for {place.what} failed: {error}",
        "try the ProxyCommand of your ssh_config by hand",
    )


def _silent(error: TimeoutError, place: FailurePlace) -> Words:
    return (
        f"{place.what} did not answer in {place.hop.within_s} s",
        "is it powered, is the address right, does a firewall drop port "
        f"{place.hop.port}? Try ping",
    )


def _unreachable(error: Exception, place: FailurePlace) -> Words:
    if "banner" in str(error).lower():
        problem = f"{place.what} does not speak SSH ({error})"
        return problem, "is this the SSH port of the device?"
    return (
        f"{place.what} cannot be reached: {_words(error)}",
        "is sshd running there, and is the port right? Try the command by hand",
    )


def _never_begun(place: FailurePlace) -> Words:
    return (
        f"{place.what} accepted the connection, and did not begin SSH in {place.hop.within_s:g} s",
        "is this the SSH port of the device, and does its sshd hang or have too many connections "
        "(MaxStartups)? Try the command by hand",
    )


def _words(error: Exception) -> str:
    if isinstance(error, NoValidConnectionsError):
        return ", ".join(sorted({_words(cause) for cause in error.errors.values()}))
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


_Explanation = tuple[type[Exception], type[DeviceError], Callable[..., Words]]


def _unanswered(error: Unanswered, place: FailurePlace) -> Words:
    return (
        f"{place.what} accepted the connection, and {error}",
        "log in by hand: its login may hang (PAM, a directory server, reverse DNS)",
    )


_EXPLANATIONS: tuple[_Explanation, ...] = (
    # the special before the general: several are each other's subclasses
    (HostKeyProblem, HostKeyRefused, _host_key),
    (Unbelieved, HostKeyRefused, _unbelieved),
    (PasswordRequiredException, LoginRefused, _key_locked),
    (AuthenticationException, LoginRefused, _login),
    (ChannelException, Unreachable, _jump),
    (IncompatiblePeer, Unreachable, _incompatible),
    (ProxyCommandFailure, Unreachable, _proxy),
    (socket.gaierror, Unreachable, _name),
    (Unanswered, Unreachable, _unanswered),
    (TimeoutError, Unreachable, _silent),
)

CONNECTING_FAILURES = (OSError, EOFError, ValueError, paramiko.SSHException)
"""What paramiko raises while a connection is made."""
