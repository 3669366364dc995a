"""What emulated switches stream: gNMI servers, and clients that dial a collector.

A platform says what it has as leaves, path and value, port by port (`Served`); the rest is common:
subscriptions and sampling by the lab's clock, TLS and logins, what goes wrong on the way.
"""
