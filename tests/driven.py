"""A driver on a session, as a test uses it by hand: each reading asked, one change made and proved,
by the lab's own steps. The lab does the same for many at once (labtests/lab)."""

import inspect
from collections.abc import Callable
from typing import Any

from labtests.capabilities.settings import Setting, kind_of
from labtests.core.errors import DeviceError
from labtests.drivers import Platform, driver_module
from labtests.inventory import Endpoint
from labtests.journal import Intent
from labtests.lab import sending
from labtests.lab.changes import Step
from labtests.transport.asking import Answer, Asking, Running, answered, attempt
from labtests.transport.commands import Command, Shell


def driving(platform: Platform | str) -> Callable[[Any], Any]:
    """What makes a driver of a session."""
    module = driver_module(platform) if isinstance(platform, str) else platform
    return lambda transport, ports=(): Driven(module, transport, ports)


class Driven:
    """`x(port)` reads, `x_commands(port, earlier, wanted)` tells, `set_x(port, wanted)` makes."""

    def __init__(self, module: Platform, transport: Any, ports: tuple[str, ...] = ()) -> None:
        self.transport = transport
        self.driver = module.driver_of(transport.device, ports)
        self._through: dict[str, tuple[Any, ...]] = {}

    def resume(self, name: str, values: tuple[Any, ...]) -> None:
        """An earlier session was cut off while this setting went through these values."""
        self._through[name] = values

    def has(self, ability: type) -> bool:
        return self.driver.able(ability) is not None

    def ask(self, asking: Asking[Any]) -> Any:
        return answered(Running(asking), lambda asked: [self._answer(each) for each in asked])

    def _answer(self, command: Command) -> Answer:
        try:
            return self.transport.run(command)  # type: ignore[no-any-return]
        except DeviceError as error:
            return error

    def __getattr__(self, name: str) -> Any:
        if name.startswith("set_") and (setting := self._setting(name.removeprefix("set_"))):
            return lambda port, wanted: self._change(setting, port, wanted)
        told = name.removesuffix("_commands")
        if name.endswith("_commands") and (setting := self._setting(told)):
            return lambda port, before, after: self._commands(setting, port, before, after)
        if setting := self._setting(name):
            return lambda port: self.ask(setting.read(port))
        for part in (*self.driver.parts, *self.driver.settings):
            if callable(method := getattr(part, name, None)):
                return lambda *given: self._told(method(*given))
        raise AttributeError(name)

    def _setting(self, name: str) -> Setting[Any] | None:
        return self.driver.setting(kind_of(name))

    def _told(self, found: Any) -> Any:
        return self.ask(found) if inspect.isgenerator(found) else found

    def _commands(self, setting: Setting[Any], port: str, before: Any, after: Any) -> Any:
        if inspect.signature(setting.commands).parameters["around"].default is None:
            return setting.commands(port, before, after, None)
        around = self.ask(setting.around(port, (before, after)))
        return setting.commands(port, before, after, around)

    def _change(self, setting: Setting[Any], port: str, wanted: Any) -> None:
        now = self.ask(setting.read(port))
        through = self._through.pop(setting.kind.name, ())
        around = self.ask(setting.around(port, (now, wanted, *through)))
        commands = setting.commands(port, now, wanted, around)
        if not commands:
            return
        at = Endpoint(device=self.transport.device, interface=port)
        intent = Intent(
            at=at, setting=setting.kind.name, earlier=now, wanted=wanted, commands=commands, undo=()
        )
        step = Step(intent, commands, setting, around)
        reply = self.transport.configure(commands)
        shell = isinstance(commands[0], Shell)
        replies = (reply.parts or (reply,)) if shell else (reply,)
        error = sending._refusal(step, replies) or sending._difference(
            step, self.ask(attempt(sending._seen(step)))
        )
        if error is not None:
            raise error
