"""Hosts with several links: each but the first is at a NIC port with a name of its own, `h1#2`."""

from collections import Counter
from typing import Any


def with_host_ports(tree: Any) -> Any:
    """The same tree of a case, in which every host has one link: the second link of `h1` belongs to
    the host `h1#2`, which has the settings of `h1` unless it is given.

    A tree that is no case, or is one already, is left as it is. Ports come behind all other hosts,
    so that addresses do not change.
    """
    if not isinstance(tree, dict):
        return tree
    hosts, links = tree.get("hosts"), tree.get("links")
    if not isinstance(hosts, dict) or not isinstance(links, list):
        return tree
    ports, used = dict(hosts), Counter[str]()

    def port(name: Any) -> Any:
        if not isinstance(name, str) or name not in hosts:
            return name
        used[name] += 1
        if used[name] == 1:
            return name
        ports.setdefault(f"{name}#{used[name]}", hosts[name])
        return f"{name}#{used[name]}"

    told = [_relinked(link, port) for link in links]
    return {**tree, "hosts": ports, "links": told} if max(used.values(), default=0) > 1 else tree


def _relinked(link: Any, port: Any) -> Any:
    ends = link.get("between") if isinstance(link, dict) else None
    if not isinstance(ends, list) or len(ends) != 2 or ends[0] == ends[1]:
        return link
    return {**link, "between": [port(end) for end in ends]}


def is_first(host: str) -> bool:
    """Whether this is a host's only or first port."""
    return "#" not in host
