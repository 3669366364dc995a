"""All streams of a simulated lab: servers on loopback, and switches that dial."""

import asyncio
import hmac
from pathlib import Path
from typing import Any

import grpc

from labtests.core.errors import LabError
from labtests.inventory import Device
from labtests.simlab.face import Face
from labtests.simlab.folder import LOOPBACK
from labtests.simlab.lab import CannotSimulate, SimulatedLab, face_module
from labtests.simlab.streaming.certificates import Authority, Pair
from labtests.simlab.streaming.dialing import Dialer
from labtests.simlab.streaming.gnmi_server import GnmiService
from labtests.simlab.streaming.outlets import Troubles


class GnmiDoor:
    """Where one device's gNMI server listens. With TLS it asks for a certificate of the lab's."""

    def __init__(self, service: GnmiService, authority: Authority | None, name: str) -> None:
        self._service, self._authority, self._name = service, authority, name
        self._pair = authority.pair(name) if authority else None
        self._server: Any = None
        self.port = 0
        self._strange = False
        self._at_work: set[asyncio.Task[None]] = set()
        service.troubles.on_gone.append(self._go)
        service.troubles.on_stranger.append(self._change)

    async def open(self) -> None:
        """It listens, on its port of before if it had one."""
        self._server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        self._server.add_generic_rpc_handlers(self._service.handlers())
        address = f"{LOOPBACK}:{self.port}"
        if self._authority is None or self._pair is None:
            self.port = self._server.add_insecure_port(address)
        else:
            pairs = [(self._pair.key, self._pair.certificate)]
            credentials = grpc.ssl_server_credentials(pairs, self._authority.pem, True)
            self.port = self._server.add_secure_port(address, credentials)
        await self._server.start()

    async def close(self) -> None:
        """Nobody gets in, and whoever was in is out."""
        for task in tuple(self._at_work):
            await task
        if self._server is not None:
            await self._server.stop(None)
            self._server = None

    def _go(self, away: bool) -> None:
        self._soon(self._away() if away else self._again())

    def _change(self, strange: bool) -> None:
        if self._authority is not None and strange != self._strange:
            self._strange = strange
            stranger = Authority() if strange else self._authority
            self._soon(self._show(stranger.pair(self._name)))

    def _soon(self, doing: Any) -> None:
        task = asyncio.ensure_future(doing)
        self._at_work.add(task)
        task.add_done_callback(self._at_work.discard)

    async def _away(self) -> None:
        if self._server is not None:
            server, self._server = self._server, None
            await server.stop(None)

    async def _again(self) -> None:
        if self._server is None:
            await self.open()

    async def _show(self, pair: Pair) -> None:
        self._pair = pair
        await self._away()
        await self.open()


class ServedStreams:
    """Of every device whose testbed entry names one."""

    def __init__(self, lab: SimulatedLab, directory: Path, password: str) -> None:
        self._lab, self._password = lab, password
        self._doors: dict[str, GnmiDoor] = {}
        self._dialers: list[Dialer] = []
        self._authority = Authority()
        self._client = self._authority.pair("collector")
        self._authority.write(directory, self._client)

    async def open(self) -> dict[str, int]:
        """The ports of gNMI servers, by device."""
        for device in self._lab.testbed.devices:
            if device.telemetry is not None:
                await self._open(device)
        return {name: door.port for name, door in self._doors.items()}

    async def close(self) -> None:
        """No stream is left."""
        for door in self._doors.values():
            await door.close()
        for dialer in self._dialers:
            await dialer.close()

    async def _open(self, device: Device) -> None:
        place, face = device.telemetry, self._lab.devices[device.name]
        assert place is not None
        troubles = Troubles(self._lab.timeline, lambda: self._count(device.name))
        losses = self._lab.faults[device.name].losses
        losses.acts["stream"] = troubles.suffer
        losses.on_heal.append(troubles.heal)
        if place.kind == "dial-out":
            dials = getattr(face, "dials", None) or self._lacks(device)
            pem = self._authority.pem, self._client.key, self._client.certificate
            trusted = pem if place.tls else None
            self._dialers.append(Dialer(self._lab.timeline, dials, troubles, trusted))
            return
        module = face_module(device)
        served = module.streams(face) if hasattr(module, "streams") else self._lacks(device)
        service = GnmiService(
            self._lab,
            device.name,
            served,
            troubles,
            lambda user, word: self._right(face, user, word),
        )
        authority = self._authority if place.tls else None
        self._doors[device.name] = door = GnmiDoor(service, authority, device.name)
        try:
            await door.open()
        except RuntimeError as error:
            raise LabError(f"{device.name}: its gNMI server cannot listen: {error}") from error

    def _lacks(self, device: Device) -> Any:
        kind = device.telemetry.kind if device.telemetry else ""
        raise CannotSimulate(
            f"{device.name}: no {kind} stream of platform {device.platform!r} can be simulated\n"
            "  remedy: run this testbed without its `telemetry:` there"
        )

    def _count(self, name: str) -> None:
        self._lab.streamed[name] += 1

    def _right(self, face: Face, user: str, password: str) -> bool:
        right = hmac.compare_digest(password.encode(), self._password.encode())
        return right and user in {"root", "admin", face.user}
