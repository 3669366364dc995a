"""DCBX in the firmware of a NIC, which is there for a port that `mlnx_qos -d fw` has given to it.

Its parameters are non-volatile (mlxconfig) and in force from the next boot. Here they are on, as on
hosts whose owner wants DCBX; as delivered, LLDP_NB_DCBX_P1 is False and both modes are OFF. The
driver makes a port willing when it gives it to the firmware (mlx5e_dcbnl_set_dcbx_mode). What the
firmware takes over stays when the OS has the port again.
"""

from collections.abc import Callable

from labtests.inventory import Endpoint
from labtests.simlab.dcbx import DcbxExchange, DcbxTlvs, Version
from labtests.simlab.linux.qos import ETS, STRICT, QosState

ON = {
    "LLDP_NB_DCBX": "True(1)",
    "LLDP_NB_RX_MODE": "ALL(2)",
    "LLDP_NB_TX_MODE": "ALL(2)",
    "DCBX_IEEE": "True(1)",
    "DCBX_CEE": "True(1)",
    "DCBX_WILLING": "True(1)",
}
_SPEAKS: dict[str, Version] = {"DCBX_IEEE": "standard", "DCBX_CEE": "rev101"}


class FirmwareDcbx:
    """One port's. `next_boot` has the parameters as mlxconfig shows them, without port number."""

    def __init__(self, exchange: DcbxExchange, end: Endpoint, qos: Callable[[], QosState]) -> None:
        self._exchange, self._end, self._qos = exchange, end, qos
        self.next_boot = dict(ON)
        self._parameters = dict(ON)
        exchange.on_heard[end] = self.update

    def boot(self) -> None:
        """The parameters are in force, and the port is as it is after a boot."""
        self._parameters = dict(self.next_boot)
        self.update()

    def update(self) -> None:
        """Something has changed here, or at the peer."""
        qos = self._qos()
        speaks = all(self._parameters[name] == ON[name] for name in list(ON)[:3])
        if qos.dcbx != "fw" or not speaks:
            self._exchange.tell(self._end, None)
            return
        self._exchange.tell(self._end, self._telling(qos))
        heard = self._exchange.heard(self._end)
        if heard is not None and not heard.willing:
            take(qos, heard)
            self._exchange.tell(self._end, self._telling(qos))

    def _telling(self, qos: QosState) -> DcbxTlvs:
        shares = zip(qos.algorithms, qos.bandwidth_percent, strict=True)
        return DcbxTlvs(
            pfc=qos.pfc,
            class_of_priority=tuple(qos.tc_of_priority),
            percent=tuple(percent if way == ETS else None for way, percent in shares),
            versions=tuple(v for name, v in _SPEAKS.items() if self._parameters[name] == ON[name]),
            willing=True,
        )


def take(qos: QosState, heard: DcbxTlvs) -> None:
    """PFC and ETS of the port are its peer's."""
    if qos.pfc != heard.pfc:
        qos.set_pfc(heard.pfc)
    qos.tc_of_priority = list(heard.class_of_priority)
    qos.algorithms = [STRICT if percent is None else ETS for percent in heard.percent]
    qos.bandwidth_percent = [percent or 0 for percent in heard.percent]
