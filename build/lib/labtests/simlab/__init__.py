"""The simulated lab: SSH servers on loopback, emulated devices, one packet network behind them.

`lab.SimulatedLab` is made from a testbed; `serving` puts SSH servers in front of it; `control` runs
that in a process of its own. Nothing here knows how labtests reads what the devices print.
"""
