"""Where passwords come from: the environment, the keyring, or whoever sits at the terminal.

A testbed file only has their names (`password_env`). The name is looked for

    in the environment;
    in the keyring, as `keyring set labtests NAME` stores it, when the package keyring is there;
    at the terminal, once in each process and without echo, when LABTESTS_ASK_PASSWORDS=1.

Passphrases of keys are the ssh-agent's business, and `sudo` is never given a password (`sudo -n`).
"""

import getpass
import importlib
import os
import threading
from collections.abc import Iterable

from labtests.core.output import used
from labtests.inventory import Device

SERVICE = "labtests"
ASK = "LABTESTS_ASK_PASSWORDS"

_given: dict[str, "Password"] = {}  # what a person has typed; it is asked for once
_asking = threading.Lock()  # devices are connected in parallel


class Password(str):
    """A text whose `repr` is `***`: that is how tracebacks and logs write arguments and locals,
    and what they cut short nobody could recognise."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


def password_named(name: str) -> Password | None:
    """The password of this name; None when nobody has it. May wait for a person."""
    found = os.environ.get(name) or _kept(name)
    password = Password(found) if found else _typed(name) if os.environ.get(ASK) else None
    if password:
        used(password)
    return password


def passwords_of(devices: Iterable[Device]) -> tuple[str, ...]:
    """The passwords that these devices are logged in with: what is never to be written down."""
    names = names_of_passwords(devices)
    return tuple(found for name in sorted(names) if (found := password_named(name)))


def names_of_passwords(devices: Iterable[Device]) -> frozenset[str]:
    """The environment variables that may hold them."""
    places = [place for d in devices for place in (d.management, d.telemetry) if place is not None]
    return frozenset(place.password_env for place in places if place.password_env)


def _kept(name: str) -> str | None:
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        return None
    try:
        found = keyring.get_password(SERVICE, name)
    except keyring.errors.KeyringError:  # none that could be opened here
        return None
    return found if isinstance(found, str) else None


def _typed(name: str) -> Password | None:
    with _asking:
        if name not in _given:
            try:
                _given[name] = Password(getpass.getpass(f"password {name}: "))
            except (EOFError, OSError):
                return None
        return _given[name] or None
