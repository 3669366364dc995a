"""Linux hosts with NVIDIA ConnectX NICs (mlx5), reached by a shell.

Needs on the host: mlnx_qos (mlnx-tools), ethtool, rdma (iproute2) or ibdev2netdev, and for DCQCN
the sysfs folder ecn/ of MLNX_OFED or DOCA-OFED. What is missing is said by ToolMissing.
"""

from labtests.drivers.connectx.driver import KIND, SESSION, driver_of

__all__ = ["KIND", "SESSION", "driver_of"]
