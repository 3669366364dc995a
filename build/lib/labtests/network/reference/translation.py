"""The parameters of a reference run as a case of this network, whatever simulator it is from."""

from labtests.network.cases.form import CaseFile
from labtests.network.reference.hpcc import Run, case_of
from labtests.network.reference.other_simulators import fat_tree_case, paper_case

_KINDS = {
    "htsim": ("N", "rate_mbps", "hop_latency_us", "end_us"),
    "ns3-rdma": ("N", "rate", "link_delay", "duration_ms", "kmin_cells", "kmax_cells", "pmax"),
    "hpcc": ("topology", "flows", "duration_ms"),
}
"""The parameters without which nothing can be said."""


def kind_of(run: Run) -> str:
    """The simulator whose parameters these are: hpcc, ns3-rdma or htsim. ValueError: none."""
    for kind, keys in _KINDS.items():
        missing = [key for key in keys if key not in run]
        if not missing:
            return kind
    topology = run.get("topology")
    if isinstance(topology, dict) or "flows" in run:
        missing = [key for key in _KINDS["hpcc"] if key not in run]
        raise ValueError(f"params has no {', '.join(missing)}")
    kinds = "; ".join(f"{kind}: {', '.join(keys)}" for kind, keys in _KINDS.items())
    raise ValueError(f"params of no known simulator; needed are {kinds}")


def translated(name: str, run: Run, *, duration_ms: float | None = None) -> CaseFile:
    """The case of a run. ValueError: a parameter that cannot be understood."""
    builders = {"hpcc": case_of, "ns3-rdma": paper_case, "htsim": fat_tree_case}
    try:
        case = builders[kind_of(run)](name, run, duration_ms=duration_ms)
        for flow in case.flows:
            for host in {flow.source, flow.target} - set(case.hosts):
                raise ValueError(
                    f"run {name}: {host} of flow {flow.name} is not a host with a link"
                )
        return case
    except (KeyError, TypeError, IndexError, StopIteration) as error:
        raise ValueError(f"run {name}: parameters not understood: {error!r}") from error
