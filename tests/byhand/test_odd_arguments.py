"""No arguments, however odd, make an emulated tool raise or wait for ever: thousands are tried."""

import random
import shlex
from typing import Any

import pytest
from served_lab import INTERFACES, RECEIVER, TESTBED

from labtests.inventory import load
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux.builtins import BUILTINS
from labtests.simlab.linux.host import LinuxHost

A = INTERFACES["ServerA"]
WORDS = f"""
    -c -i -n -W -t -p -h -V -v -J -u -b -S -a -l -s -k -d -f -o -e -x -D -q -k2 -nr -F: -- --help
    --version --pfc --trust --tos=1 --nonsense x 0 -1 1e9 5G 99999999999999999999 0x10 {RECEIVER}
    nosuch {A} mlx5_0 mlx5_0/1 show dev link addr set up add route get /tmp/q /sys /nonexistent *
    ' [ ( ) {{ }} $ $x \\ \\1 1,2 dscp 65536 , : = a=b | & ; > < s/a/b/ s/[/x/ /x/d 2,3p
    {{print$2}} /a/ $1==3 {{s+=$1}}END{{print}} %s %99999d é \u2003 \x0b \x00 \udc80
""".split(" ")
CLI_TEXT = """
    display dis sys system-view int interface Twenty-FiveGigE1/0/14 twe1/0/13 Twenty-FiveGigE 1/0/99
    qos wred queue table T apply priority-flow-control enable no-drop dot1p 1,3 1-9 undo trust dscp
    quit return save force reset counters | include begin [ ( * ? ^ map-table dscp-dot1p import 0 to
    63 export 7 drop-level low-limit 10 high-limit 5 discard-probability 101 weighting-constant
    sysname description shutdown this current-configuration brief outbound wrr sp group weight é
"""


class Client:
    """A session that ends its input at once."""

    def __init__(self) -> None:
        self.pty, self.congested, self.width, self.height = False, False, 80, 24
        self.username, self.status = "root", None
        self.on_line = self.on_key = self.on_data = self.on_question = None
        self.on_eof: Any = None
        self.on_interrupt = self.on_suspend = self.on_signal = None

    def write(self, text: str) -> None:
        assert "Traceback" not in text

    write_error = write

    def exit(self, status: Any) -> None:
        self.status = status


@pytest.fixture(scope="module")
def simulation() -> SimulatedLab:
    return SimulatedLab(load(TESTBED), seed=1)


@pytest.mark.parametrize("seed", range(5))
def test_tools_of_a_host(simulation: SimulatedLab, seed: int) -> None:
    host: Any = simulation.devices["ServerA"]
    assert isinstance(host, LinuxHost)
    chance = random.Random(seed)
    names = sorted({*host.tools(), *BUILTINS})
    for _ in range(2000):
        words = [word.strip() for word in chance.choices(WORDS, k=chance.randrange(5))]
        quote = chance.choice([shlex.quote, str])
        command = " ".join([chance.choice(names), *map(quote, words)])
        client: Any = Client()
        host.execute(command, client)
        if client.on_eof is not None:
            client.on_eof()
        host.hang_up(client)
        for process in list(host.kernel.living()):
            host.kernel.deliver(process, "KILL")
    assert not list(host.kernel.living())


@pytest.mark.parametrize("seed", range(5))
def test_lines_of_the_switch(simulation: SimulatedLab, seed: int) -> None:
    chance, words = random.Random(seed), CLI_TEXT.split()
    for _ in range(2000):
        lines = [" ".join(chance.choices(words, k=chance.randrange(1, 7))) for _ in range(3)]
        views = ("", "system-view", "system-view\ninterface twe1/0/14")
        client: Any = Client()
        text = "\n".join([chance.choice(views), *lines])
        simulation.devices["S6550"].execute(text, client)
        assert client.status == 0
