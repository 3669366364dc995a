"""One module per platform that can be emulated: its name is the testbed's `platform`.

Each has `KIND` ("host" for a device with NICs, "switch" for one that forwards) and
`face(lab, device)`, which returns the emulated device (a `labtests.simlab.face.Face`); a switch may
have `MEMORY`, its packet memory, and `streams(face)`, what its gNMI server has (`Served`).
"""
