"""Networks for tests: a ring, leaves and spines, a Clos of three tiers, random ones."""

import random

from labtests.topology.fabric import Fabric, SwitchCable

GIGA = 10**9


def fabric(name, switches, ends, hosts, **more):
    """`ends`: pairs of switches; a port has the name of the switch it leads to, a second one #2."""
    used, cables = {}, []
    for pair in ends:
        ports = []
        for here, there in (pair, pair[::-1]):
            used[here, there] = number = used.get((here, there), 0) + 1
            ports.append(there if number == 1 else f"{there}#{number}")
        cables.append(SwitchCable(switches=pair, ports=tuple(ports), bits_per_s=10 * GIGA))
    return Fabric(
        name=name, switches=tuple(switches), cables=tuple(cables), hosts=hosts, **more
    )  # fmt: skip


def ring(count, **more):
    names = [f"s{n}" for n in range(count)]
    ends = [(name, names[(n + 1) % count]) for n, name in enumerate(names)]
    return fabric("ring", names, ends, {f"h{n}": name for n, name in enumerate(names)}, **more)


def leaf_spine(leaves, spines, **more):
    lower, upper = [f"leaf{n}" for n in range(leaves)], [f"spine{n}" for n in range(spines)]
    ends = [(leaf, spine) for leaf in lower for spine in upper]
    hosts = {f"h{n}": leaf for n, leaf in enumerate(lower)}
    return fabric("leaf-spine", [*lower, *upper], ends, hosts, **more)


def clos(arity, **more):
    """Pods of arity / 2 leaves and as many aggregation switches, each of these with arity / 2 core
    switches of its own plane (Al-Fares et al. 2008)."""
    half, switches, ends, hosts = arity // 2, [], [], {}
    for pod in range(arity):
        for n in range(half):
            switches += [f"leaf{pod}.{n}", f"agg{pod}.{n}"]
            hosts[f"h{pod}.{n}"] = f"leaf{pod}.{n}"
            ends += [(f"leaf{pod}.{other}", f"agg{pod}.{n}") for other in range(half)]
            ends += [(f"agg{pod}.{n}", f"core{n}.{other}") for other in range(half)]
    switches += [f"core{n}.{other}" for n in range(half) for other in range(half)]
    return fabric("clos", switches, ends, hosts, **more)


def torus(side):
    """Cycles everywhere, which most failures leave as they are."""
    names = [f"s{row}{n}" for row in range(side) for n in range(side)]
    ends = [
        (f"s{row}{n}", beside)
        for row in range(side)
        for n in range(side)
        for beside in (f"s{(row + 1) % side}{n}", f"s{row}{(n + 1) % side}")
    ]
    return fabric("torus", names, ends, {f"h{name}": name for name in names})


def drawn(seed, **more):
    """Joined by a random tree, and some more cables, also beside each other."""
    dice = random.Random(seed)
    names = [f"s{n}" for n in range(dice.randint(3, 7))]
    ends = [(name, dice.choice(names[:n])) for n, name in enumerate(names) if n]
    ends += [tuple(dice.sample(names, 2)) for _ in range(dice.randint(1, 5))]
    dice.shuffle(ends)
    bearing = dice.sample(names, dice.randint(2, len(names)))
    return fabric("drawn", names, ends, {f"h{name}": name for name in bearing}, **more)
