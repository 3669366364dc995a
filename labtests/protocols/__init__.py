"""The words of streaming telemetry: gNMI, H3C's gRPC dial-out and the login of its dial-in,
as messages and stubs.

Nothing here knows a device, a path or a unit. Collectors and emulated switches both speak through
it, and never through each other. Needs the extra `streams`.
"""
