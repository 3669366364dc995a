"""What is said of a kernel's parts before a test is skipped for them."""

import pytest

from labtests.linuxlab.kernel import KernelFeatures


@pytest.mark.parametrize(
    ("has", "said"),
    [
        (frozenset(), "no soft-RoCE (rdma_rxe)"),
        (frozenset({"rdma"}), "no RDMA device is made in here although"),
    ],
)
def test_rdma_is_not_promised_by_a_module(has: frozenset[str], said: str) -> None:
    """Linux 6.12: rxe in a namespace is ACTIVE, and ib_send_bw between two waits for ever."""
    (sentence,) = [each for each in KernelFeatures(has).notes() if "RoCE" in each]
    assert sentence.startswith(said)
