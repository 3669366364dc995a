"""Processes of an emulated host: lifetimes, signals, groups, time, and what dies with whom."""

from linux_bench import FakeConsole, Hands

START = "sh -c 'echo $$; exec timeout -k 2 {limit} {command}'"


def start(hands: Hands, command: str, *, limit: int = 30, device: str = "ServerA") -> FakeConsole:
    return hands.run(START.format(limit=limit, command=command), device)


def pid_of(session: FakeConsole) -> int:
    return int(session.out.splitlines()[0])


def test_sleep_takes_simulated_time_only(hands: Hands) -> None:
    session = hands.run("sleep 2.5; echo done")
    hands.advance(2.4)
    assert session.status is None
    hands.advance(0.2)
    assert (session.status, session.out) == (0, "done\n")


def test_the_printed_pid_is_the_group_of_the_whole_command(hands: Hands) -> None:
    session = start(hands, "sleep 100")
    group = pid_of(session)
    listed = hands.output("ps -eo pid=,pgid=,args=")
    members = [line for line in listed.splitlines() if line.split()[1] == str(group)]
    assert [line.split(None, 2)[2] for line in members] == [
        "timeout -k 2 30 sleep 100",
        "sleep 100",
    ]


def test_a_signal_to_the_group_ends_it_and_shows_in_the_status(hands: Hands) -> None:
    for signal, status in (("INT", 130), ("TERM", 143), ("KILL", 137)):
        session = start(hands, "sleep 100")
        assert hands.run(f"kill -0 -- -{pid_of(session)}").status == 0
        assert hands.run(f"kill -{signal} -- -{pid_of(session)}").status == 0
        assert session.status == status
        assert hands.run(f"kill -0 -- -{pid_of(session)}").status == 1


def test_a_time_limit_ends_the_command_with_124(hands: Hands) -> None:
    session = start(hands, "sleep 100", limit=3)
    hands.advance(2.9)
    assert session.status is None
    hands.advance(0.2)
    assert session.status == 124


def test_what_ignores_the_signal_is_killed_after_the_grace(hands: Hands) -> None:
    session = hands.run("timeout -s HUP -k 2 3 nohup sleep 100; echo rc=$?")
    hands.advance(4.9)
    assert session.status is None
    hands.advance(0.2)
    assert session.out == "rc=137\n"
    assert "Killed                  timeout -s HUP -k 2 3 nohup sleep 100\n" in session.err


def test_a_killed_command_is_reported_by_the_shell(hands: Hands) -> None:
    session = hands.run("sleep 100; echo rc=$?")
    pid = int(hands.output("pgrep sleep"))
    hands.run("pkill -9 sleep")
    assert session.out == "rc=137\n"
    assert session.err == f"bash: line 1: {pid:5} {'Killed':<24}sleep 100\n"


def test_a_background_command_keeps_the_session_open_like_sshd(hands: Hands) -> None:
    session = hands.run("sleep 5 & echo started")
    assert (session.out, session.status) == ("started\n", None)
    hands.advance(6)
    assert session.status == 0
    detached = hands.run("setsid nohup sleep 5 >/dev/null 2>&1 </dev/null & echo $!")
    assert detached.status == 0
    assert hands.run(f"kill -0 {detached.out.strip()}").status == 0


def test_a_command_outlives_its_client_until_it_writes(hands: Hands) -> None:
    session = hands.run("sleep 2; echo lost; sleep 100")
    hands.lab.devices["ServerA"].hang_up(session)
    assert hands.run("pgrep -f '^sleep 2'").status == 0
    hands.advance(3)
    assert hands.run("pgrep sleep").status == 1, "the write to the lost channel ends it"
    assert "lost" not in session.out


def test_a_reader_that_is_gone_ends_the_writer(hands: Hands) -> None:
    session = hands.run("while true; do echo y; sleep 0.001; done | head -n 2; echo over")
    hands.advance(1)
    assert (session.out, session.status) == ("y\ny\nover\n", 0)


def test_pkill_finds_by_name_and_by_command_line(hands: Hands) -> None:
    hands.run("sleep 100")
    hands.run("sleep 200")
    assert hands.run("pgrep -f -c 'sleep [12]00'").out == "2\n"
    assert hands.output("pgrep -x -a sleep").count("sleep ") == 2
    assert hands.run("pkill -INT -f 'sleep 100'").status == 0
    assert hands.output("ps -eo args= | grep sleep | grep -v grep") == "sleep 200\n"
    assert hands.run("pkill nothing").status == 1


def test_the_kill_fault_ends_the_program_at_once(hands: Hands) -> None:
    session = start(hands, "ib_send_bw -R")
    hands.lab.inject({"kind": "kill", "device": "ServerA", "process": "ib_send_bw"})
    assert session.status == 137
    assert not hands.lab.listeners


def test_a_removed_tool_is_not_found(hands: Hands) -> None:
    hands.lab.inject({"kind": "remove-tool", "device": "ServerA", "tool": "mlnx_qos"})
    session = hands.run("timeout -k 2 5 sh -c 'mlnx_qos -i enp3s0f0np0'")
    assert (session.status, session.err) == (127, "sh: line 1: mlnx_qos: command not found\n")
    assert hands.run("which mlnx_qos; ls /usr/bin/mlnx_qos").out == ""


def test_the_truncate_fault_cuts_the_output(hands: Hands) -> None:
    whole = hands.output("mlnx_qos -i enp3s0f0np0")
    hands.lab.inject({"kind": "truncate", "device": "ServerA", "command": "mlnx_qos"})
    assert hands.output("mlnx_qos -i enp3s0f0np0") == whole[: len(whole) // 2] + "\n"
