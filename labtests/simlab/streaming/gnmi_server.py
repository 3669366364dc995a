"""The gNMI service of one emulated switch: Capabilities, Get, and Subscribe in all modes.

Each subscription is sampled at its instants of the lab's clock and told in a notification of its
own, whose timestamp is the device's clock. ON_CHANGE is looked at every second, and when a link
changes (chosen; boxes differ). Set is refused: nothing is configured by gNMI here.
"""

import secrets
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import grpc

from labtests.protocols import dialin, gnmi
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.streaming.outlets import Outlet, Troubles
from labtests.simlab.streaming.served import NO_PEAKS, Leaf, Peaks, ServedValue
from labtests.simlab.streaming.subscriptions import (
    Pattern,
    Sampled,
    Subscription,
    Unanswerable,
    changed,
    read,
    written,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Login = Callable[[str, str], bool]


class GnmiService:
    """See gNMI 0.8.0. Whoever asks has to say the device's user and password, or to show the token
    that they were good for."""

    def __init__(
        self, lab: SimulatedLab, name: str, served: ServedValue, troubles: Troubles, login: Login
    ) -> None:
        self.lab, self.served, self.troubles, self._login = lab, served, troubles, login
        self.tokens: set[str] = set()
        self._faults = lab.faults[name]
        self._faults.on_down.append(lambda: self._end_all("the device restarts"))
        served.turned.append(lambda: None if served.on() else self._end_all("gRPC is off"))

    def handlers(self) -> tuple[Any, ...]:
        """For `add_generic_rpc_handlers`."""
        pb2 = gnmi.pb2
        plain = {
            "Capabilities": (self._capabilities, pb2.CapabilityRequest),
            "Get": (self._get, pb2.GetRequest),
            "Set": (self._set, pb2.SetRequest),
        }
        methods = {
            name: grpc.unary_unary_rpc_method_handler(
                partial(self._answered, act),
                request_deserializer=kind.FromString,
                response_serializer=lambda message: message.SerializeToString(),
            )
            for name, (act, kind) in plain.items()
        }
        methods["Subscribe"] = grpc.stream_stream_rpc_method_handler(
            self._subscribe, request_deserializer=pb2.SubscribeRequest.FromString
        )
        answers = (grpc.method_handlers_generic_handler("gnmi.gNMI", methods),)
        sessions = {"Login": self._log_in, "Logout": self._log_out}
        return (*answers, dialin.handlers(sessions)) if self.served.token else answers

    def _end_all(self, why: str) -> None:
        self.tokens.clear()
        self.troubles.end_all(why)

    # -- requests ---------------------------------------------------------------------------------

    async def _admit(self, context: Any) -> None:
        await self._expect_up(context)
        said = dict(context.invocation_metadata())
        if self.served.token:
            right = said.get(dialin.TOKEN) in self.tokens
        else:
            right = self._login(str(said.get("username", "")), str(said.get("password", "")))
        if not right:
            what = dialin.TOKEN if self.served.token else "username or password"
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, f"wrong {what}")

    async def _expect_up(self, context: Any) -> None:
        if self._faults.booting or not self.served.on():
            why = "the device restarts" if self._faults.booting else "gRPC is off"
            await context.abort(grpc.StatusCode.UNAVAILABLE, why)

    async def _log_in(self, request: Any, context: Any) -> str:
        await self._expect_up(context)
        if not self._login(request.user_name, request.password):
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "wrong username or password")
        token = secrets.token_hex(18)
        self.tokens.add(token)
        return token

    async def _log_out(self, request: Any, context: Any) -> str:
        await self._admit(context)
        self.tokens.discard(request.token_id)
        return ""

    async def _answered(self, act: Callable[[Any], Any], request: Any, context: Any) -> Any:
        await self._admit(context)
        try:
            return act(request)
        except Unanswerable as error:
            await context.abort(grpc.StatusCode[error.status], str(error))

    def _capabilities(self, request: Any) -> Any:
        models = [
            gnmi.pb2.ModelData(name=name, organization=organization, version=version)
            for name, organization, version in self.served.models
        ]
        return gnmi.pb2.CapabilityResponse(
            supported_models=models,
            supported_encodings=gnmi.ENCODINGS.values(),
            gNMI_version="0.8.0",
        )

    def _set(self, request: Any) -> Any:
        raise Unanswerable("UNIMPLEMENTED", "nothing is configured by gNMI here")

    def _get(self, request: Any) -> Any:
        if request.encoding not in gnmi.ENCODINGS.values():
            raise Unanswerable("UNIMPLEMENTED", f"encoding {request.encoding} is not supported")
        answers = []
        for path in request.path:
            pattern = Pattern.of(request.prefix, path, self.served)
            leaves = self.sampled(pattern, NO_PEAKS)
            if not leaves:
                raise Unanswerable("NOT_FOUND", f"there is no {gnmi.text(request.prefix, path)}")
            answers.append(
                self.notification(request.prefix.target, pattern, leaves, request.encoding)
            )
        return gnmi.pb2.GetResponse(notification=answers)

    async def _subscribe(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[bytes]:
        await self._admit(context)
        first = await anext(requests, None)
        if first is None or first.WhichOneof("request") != "subscribe":
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no subscription came first")
            return
        outlet = Outlet(self.troubles)
        samplers: list[SubscriptionSampler] = []
        try:
            samplers += [
                SubscriptionSampler(self, each, first.subscribe, outlet)
                for each in read(first.subscribe, self.served)
            ]
            async for message in self._streamed(samplers, first.subscribe.mode, requests, outlet):
                yield message
            if outlet.ended:
                await context.abort(grpc.StatusCode.UNAVAILABLE, outlet.ended)
        except Unanswerable as error:
            await context.abort(grpc.StatusCode[error.status], str(error))
        finally:
            outlet.close()
            for sampler in samplers:
                sampler.leave()

    async def _streamed(
        self,
        samplers: "list[SubscriptionSampler]",
        mode: int,
        requests: AsyncIterator[Any],
        outlet: Outlet,
    ) -> AsyncIterator[bytes]:
        for message in _round(samplers, going_on=mode == gnmi.STREAM):
            yield message
        if mode == gnmi.POLL:
            async for request in requests:
                for message in _polled(request, samplers):
                    yield message
        elif mode == gnmi.STREAM:
            async for message in outlet:
                yield message

    # -- values -----------------------------------------------------------------------------------

    def sampled(self, pattern: Pattern, peaks: Peaks) -> Sampled:
        """The leaves that it means, now."""
        shown, all_leaves = self.troubles.shown, self.served.leaves
        below = [leaves for head, leaves in all_leaves.items() if pattern.leads_to(head)]
        return [
            (text, shown(text, leaf))
            for port in self.served.ports
            for leaves in below
            for text, leaf in leaves(port, peaks)
            if pattern.means(text)
        ]

    def notification(self, target: str, pattern: Pattern, leaves: Sampled, encoding: int) -> Any:
        """What stands there, at the device's time."""
        now_ns = (self.served.now() - _EPOCH) // timedelta(microseconds=1) * 1000
        return gnmi.pb2.Notification(
            timestamp=now_ns,
            prefix=gnmi.pb2.Path(target=target, origin="" if target else pattern.space),
            update=written(pattern, leaves, encoding, self.served.whole),
        )


def _round(samplers: "list[SubscriptionSampler]", *, going_on: bool = False) -> list[bytes]:
    """All of all; `going_on`: sampled from now on, before anybody has it."""
    sync = gnmi.pb2.SubscribeResponse(sync_response=True).SerializeToString()
    told = [*(sampler.first() for sampler in samplers), sync]
    for sampler in samplers if going_on else ():
        sampler.go_on()
    return told


def _polled(request: Any, samplers: "list[SubscriptionSampler]") -> list[bytes]:
    if request.WhichOneof("request") != "poll":
        raise Unanswerable("INVALID_ARGUMENT", "only polls may follow")
    return _round(samplers)


class SubscriptionSampler:
    """One subscription of one stream."""

    def __init__(
        self, service: GnmiService, subscription: Subscription, listed: Any, outlet: Outlet
    ) -> None:
        self._service, self._subscription, self._listed = service, subscription, listed
        self._outlet, self._timeline = outlet, service.lab.timeline
        self._before: dict[str, Leaf] = {}
        self._told_ns = 0
        peaks = service.served.peaks
        self._reader = None if peaks is None else peaks.reader()

    def first(self) -> bytes:
        """All of it. Raises Unanswerable where there is nothing."""
        leaves = self._read()
        if not leaves and not self._subscription.events:
            what = gnmi.text(*(each.path for each in self._listed.subscription))
            raise Unanswerable("NOT_FOUND", f"nothing is at {what}")
        return self._message(leaves)

    def go_on(self) -> None:
        """It is sampled from now on."""
        if self._subscription.changes:
            self._service.lab.on_link.append(self._look)
        self._wait()

    def leave(self) -> None:
        """Nobody reads it any more."""
        if self._look in self._service.lab.on_link:
            self._service.lab.on_link.remove(self._look)
        if self._reader is not None and self._service.served.peaks is not None:
            self._service.served.peaks.leave(self._reader)

    def _wait(self) -> None:
        self._timeline.after(self._subscription.interval_ns, self._due)

    def _due(self) -> None:
        if not self._outlet.ended:
            self._look()
            self._wait()

    def _look(self, *_: Any) -> None:
        leaves = self._read()
        heartbeat_ns = self._subscription.heartbeat_ns
        beat = heartbeat_ns and self._timeline.now_ns - self._told_ns >= heartbeat_ns
        if self._subscription.changes and not beat:
            leaves = changed(leaves, self._before)
        if leaves:
            self._outlet.send(self._message(leaves))

    def _read(self) -> Sampled:
        peaks = NO_PEAKS if self._reader is None else self._reader.take()
        return self._service.sampled(self._subscription.pattern, peaks)

    def _message(self, leaves: Sampled) -> bytes:
        self._before.update(leaves)
        self._told_ns = self._timeline.now_ns
        listed, pattern = self._listed, self._subscription.pattern
        told = self._service.notification(listed.prefix.target, pattern, leaves, listed.encoding)
        sent: bytes = gnmi.pb2.SubscribeResponse(update=told).SerializeToString()
        return sent
