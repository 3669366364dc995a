"""Proves, from counters, whether a lossless-Ethernet (RoCEv2) fabric loses nothing.

The story: inventory -> transport -> drivers -> workloads + telemetry -> verdicts -> report.
"""

__version__ = "0.1.0"
