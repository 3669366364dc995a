"""A kernel with RDMA, tools for it, and no RDMA device: Debian 13 with rdma-core, as it comes."""

from driven import driving
from linux_host import VETH, Answer, namespace_host

from labtests.core.errors import CommandRejected
from labtests.transport.asking import Running, attempt, both, known

Driver = driving("linux")


def test_no_device_at_all_is_known_and_no_failure():
    answers = {
        "rdma -j link": Answer("[]\n"),
        "ibv_devinfo": Answer("", "No IB devices found\n", 255),
    }
    assert Driver(namespace_host(**answers)).roce(VETH) is None


def _refused():
    raise CommandRejected("h", "x", "no", "none")
    yield ()


def test_of_two_a_failure_that_was_caught_is_a_value():
    asking = Running(both(known(1), attempt(_refused())))
    asking.tell(())
    one, why = asking.result
    assert one == 1
    assert isinstance(why, CommandRejected)
