"""A transport that answers from a script and remembers what it was sent."""

from dataclasses import dataclass, field

from labtests.transport.protocol import Reply


@dataclass
class ScriptedSwitch:
    """`answers`: command -> output. Each block of configuration lines takes the next of `changes`,
    which are new answers from then on; `says` is what the switch prints meanwhile."""

    answers: dict
    changes: list = field(default_factory=list)
    says: str = ""
    device: str = "S6550"
    asked: list = field(default_factory=list)
    configured: list = field(default_factory=list)
    now_s: float = 0.0

    def run(self, command, *, timeout_s=30.0):
        self.asked.append(command)
        self.now_s += 1.0
        text = self.answers.get(command, "   ^\n% Unrecognized command found at '^' position.\n")
        return Reply(device=self.device, command=command, text=text, time_s=self.now_s)

    def configure(self, commands):
        self.configured.append(commands)
        if self.changes:
            self.answers = self.answers | self.changes.pop(0)
        return Reply(device=self.device, command="system-view", text=self.says)

    def start(self, command, *, limit_s):
        raise AssertionError("a switch has no processes")

    def close(self):
        pass
