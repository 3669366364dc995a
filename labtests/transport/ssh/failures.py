"""Why a device cannot be reached, in the words of the person who has to mend it."""

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
    for kind, explain in _EXPLANATIONS:
        if isinstance(error, kind):
            return explain(error, place)
    return _unreachable(error, place)


def _host_key(error: HostKeyProblem, place: FailurePlace) -> DeviceError:
    trust = place.hop.known_hosts
    file, scan = quote(str(trust.place.files[0])), _keyscan(place.hop)
    fingerprint = f"{error.key.get_name()} {error.key.fingerprint}"
    if error.why == "revoked":
        return HostKeyRefused(
            place.device,
            place.hop.command,
            f"{place.what} shows a host key that is marked @revoked, or in RevokedHostKeys: "
            f"{fingerprint}",
            "give the device a new host key on its console; nobody should trust this one",
        )
    if error.why == "changed":
        return HostKeyRefused(
            place.device,
            place.hop.command,
            f"{place.what} has another host key than {file} says: it now shows {fingerprint}. "
            "Either it was reinstalled or somebody sits in between",
            f"compare the fingerprint on the device's console; if it is right, "
            f"ssh-keygen -R {quote(trust.name)} -f {file} and learn the new one with "
            f"{scan} >> {file}",
        )
    return HostKeyRefused(
        place.device,
        place.hop.command,
        f"the host key of {place.what} is unknown: {fingerprint} is not in {file}",
        f"compare the fingerprint on the device's console, then {scan} >> {file}; "
        "or say `host_keys: accept-new` in the testbed file",
    )


def _unbelieved(error: Unbelieved, place: FailurePlace) -> DeviceError:
    problem, _, remedy = str(error).partition("\n  remedy: ")
    return HostKeyRefused(place.device, place.hop.command, problem, remedy)


def _keyscan(hop: Hop) -> str:
    return f"ssh-keyscan -p {hop.port} {quote(hop.host)}"


def _login(error: AuthenticationException, place: FailurePlace) -> DeviceError:
    user = place.hop.user
    return LoginRefused(
        place.device,
        place.hop.command,
        f"{place.what} refused the login as {user!r}: {error or 'no reason given'}",
        "check user, key_file and password_env in the testbed file, and the ssh-agent "
        "(ssh-add -l); try the command by hand",
    )


def _key_locked(error: PasswordRequiredException, place: FailurePlace) -> DeviceError:
    return LoginRefused(
        place.device,
        place.hop.command,
        f"the private key for {place.what} is locked with a passphrase",
        "load it into the ssh-agent: ssh-add KEYFILE",
    )


def _jump(error: ChannelException, place: FailurePlace) -> DeviceError:
    through = place.through.address if place.through else "the jump host"
    return Unreachable(
        place.device,
        place.hop.command,
        f"jump host {through} could not reach {place.hop.address} ({error.text})",
        f"log in to {through} and try it from there; forwarding must be allowed "
        "(AllowTcpForwarding in its sshd_config)",
    )


def _incompatible(error: IncompatiblePeer, place: FailurePlace) -> DeviceError:
    wire = place.hop.wire
    found = mismatch(str(error), getattr(wire, "offered", {}), wire)
    problem = f"{place.what} and this side have {found.problem}"
    return Unreachable(place.device, place.hop.command, problem, found.remedy)


def _name(error: socket.gaierror, place: FailurePlace) -> DeviceError:
    return Unreachable(
        place.device,
        place.hop.command,
        f"cannot resolve {place.name} ({error.strerror})",
        "check `host` in the testbed file against DNS, /etc/hosts and ~/.ssh/config",
    )


def _proxy(error: ProxyCommandFailure, place: FailurePlace) -> DeviceError:
    return Unreachable(
        place.device,
        place.hop.command,
        f"the ProxyCommand for {place.what} failed: {error}",
        "try the ProxyCommand of your ssh_config by hand",
    )


def _silent(error: TimeoutError, place: FailurePlace) -> DeviceError:
    return Unreachable(
        place.device,
        place.hop.command,
        f"{place.what} did not answer in {place.hop.within_s} s",
        "is it powered, is the address right, does a firewall drop port "
        f"{place.hop.port}? Try ping",
    )


def _unreachable(error: Exception, place: FailurePlace) -> DeviceError:
    wire = place.hop.wire
    if isinstance(error, paramiko.SSHException) and wire is not None and wire.is_active():
        if not wire.has_begun:
            return _never_begun(place)
        # only the login was the matter: paramiko reports the last key type it tried a file as, or
        # that it had nothing to offer
        return _login(AuthenticationException("no key or password to offer was accepted"), place)
    if "banner" in str(error).lower():
        problem = f"{place.what} does not speak SSH ({error})"
        return Unreachable(
            place.device, place.hop.command, problem, "is this the SSH port of the device?"
        )
    return Unreachable(
        place.device,
        place.hop.command,
        f"{place.what} cannot be reached: {_words(error)}",
        "is sshd running there, and is the port right? Try the command by hand",
    )


def _never_begun(place: FailurePlace) -> DeviceError:
    return Unreachable(
        place.device,
        place.hop.command,
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


_Explanation = tuple[type[Exception], Callable[..., DeviceError]]


def _unanswered(error: Unanswered, place: FailurePlace) -> DeviceError:
    return Unreachable(
        place.device,
        place.hop.command,
        f"{place.what} accepted the connection, and {error}",
        "log in by hand: its login may hang (PAM, a directory server, reverse DNS)",
    )


_EXPLANATIONS: tuple[_Explanation, ...] = (
    # the special before the general: several are each other's subclasses
    (HostKeyProblem, _host_key),
    (Unbelieved, _unbelieved),
    (PasswordRequiredException, _key_locked),
    (AuthenticationException, _login),
    (ChannelException, _jump),
    (IncompatiblePeer, _incompatible),
    (ProxyCommandFailure, _proxy),
    (socket.gaierror, _name),
    (Unanswered, _unanswered),
    (TimeoutError, _silent),
)

CONNECTING_FAILURES = (OSError, EOFError, ValueError, paramiko.SSHException)
"""What paramiko raises while a connection is made."""
