"""Emulated iperf3 3.12: server and client, TCP and UDP, text and JSON."""
