"""Any Linux server, reached by a shell: no vendor's tools, and an RDMA device only where there is
one (mlx5, bnxt, rdma_rxe, siw, ...).

Needs on the host: iproute2 (ip, and tc for the port's queue), iperf3, grep and coreutils; perftest
where there is an RDMA device. ethtool, rdma and ibv_devinfo are asked where they are installed.
"""

from labtests.drivers.linux.driver import KIND, SESSION, driver_of

__all__ = ["KIND", "SESSION", "driver_of"]
