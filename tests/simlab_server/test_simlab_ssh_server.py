"""The SSH server in front of emulated devices, seen by paramiko and OpenSSH."""

import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import paramiko
import pytest

from labtests.core.errors import LabError
from labtests.simlab.keys import Keyring
from labtests.simlab.session import ConsoleSession

KEEPALIVE = "keepalive@openssh.com"


def run(client: paramiko.SSHClient, command: str) -> tuple[str, str, int]:
    _, output, errors = client.exec_command(command, timeout=10)
    return output.read().decode(), errors.read().decode(), output.channel.recv_exit_status()


def read_until(channel: paramiko.Channel, end: str) -> str:
    text = ""
    while not text.endswith(end):
        text += channel.recv(4096).decode()
    return text


def test_output_errors_and_status_of_a_command_arrive(echo):
    assert run(echo.client(), "hello") == ("hello", "done\n", 7)


def test_after_a_round_trip_everything_printed_is_there_two_hundred_times_in_a_row(echo):
    transport = echo.client().get_transport()
    for number in range(200):
        channel = transport.open_session()
        channel.exec_command(f"3 line {number} ")
        transport.global_request(KEEPALIVE, wait=True)
        assert channel.exit_status_ready(), number
        assert channel.recv(10_000).decode() == f"line {number} " * 3
        assert channel.recv_stderr(100) == b"done\n"
        channel.close()


def test_a_round_trip_with_other_sessions_busy_on_the_same_connection_still_orders(echo):
    client = echo.client()
    transport = client.get_transport()
    waiting = [client.exec_command("later") for _ in range(20)]
    for number in range(50):
        channel = transport.open_session()
        channel.exec_command(f"1 {number}")
        transport.global_request(KEEPALIVE, wait=True)
        assert channel.recv(100) == str(number).encode()
    assert all(not output.channel.exit_status_ready() for _, output, _ in waiting)


def test_output_larger_than_the_window_arrives_whole_and_before_the_status(echo):
    text, _, status = run(echo.client(), f"{40_000} {'x' * 99} ")
    assert (len(text), status) == (40_000 * 100, 7)


def test_stdin_reaches_the_command_up_to_its_end(echo):
    stdin, output, _ = echo.client().exec_command("stdin", timeout=10)
    stdin.write("first\nsecond")
    stdin.flush()
    stdin.channel.shutdown_write()
    assert output.read() == b"first\nsecond"


def test_a_command_may_answer_later(echo):
    client = echo.client()
    _, output, _ = client.exec_command("later", timeout=10)
    client.get_transport().global_request(KEEPALIVE, wait=True)
    console = echo.face.later[0]
    assert not output.channel.exit_status_ready()
    echo.in_loop(lambda: (console.write("now"), console.exit(3)))
    assert (output.read(), output.channel.recv_exit_status()) == (b"now", 3)
    assert echo.face.hung_up == []


def test_a_client_that_disconnects_hangs_up_every_session_that_was_open(echo):
    client = echo.client()
    client.exec_command("later")
    run(client, "finished")
    client.close()
    deadline = time.monotonic() + 5
    while not echo.face.hung_up and time.monotonic() < deadline:
        time.sleep(0.01)
    assert echo.face.hung_up == echo.face.later


def test_cutting_a_device_drops_its_connections(echo):
    client = echo.client()
    client.exec_command("later")
    echo.in_loop(echo.faults.on_cut[0])
    client.get_transport().join(5)
    assert not client.get_transport().is_active()
    assert run(echo.client(), "again")[0] == "again"


def test_the_generated_password_lets_in_and_any_other_does_not(echo):
    right = {"key_filename": None, "password": echo.keyring.password}
    assert run(echo.client(**right), "hello")[0] == "hello"
    with pytest.raises(paramiko.AuthenticationException):
        echo.client(**{**right, "password": "wrong"})


def test_only_root_admin_and_the_management_user_exist(echo):
    for user in ("root", "admin", "operator"):
        assert run(echo.client(username=user), "hello")[2] == 7
    with pytest.raises(paramiko.AuthenticationException):
        echo.client(username="guest")


def test_another_key_is_refused(echo, tmp_path):
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other], check=True)
    with pytest.raises(paramiko.AuthenticationException):
        echo.client(key_filename=str(other))


def listening_addresses(port: int) -> set[str]:
    """Local addresses in LISTEN state on a port, from /proc/net/tcp (hex, little endian)."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for row in Path(table).read_text().splitlines()[1:]:
            local, state = row.split()[1], row.split()[3]
            address, local_port = local.split(":")
            if state == "0A" and int(local_port, 16) == port:
                found.add(address)
    return found


def test_it_listens_on_loopback_only(echo):
    assert listening_addresses(echo.address.port) == {"0100007F"}


def test_small_answers_are_not_held_back(echo):
    """Without TCP_NODELAY at either end these wait for delayed acknowledgements of 40 ms."""
    client = echo.client()
    start = time.perf_counter()
    for _ in range(20):
        run(client, "hello")
    assert time.perf_counter() - start < 0.6


def test_keys_and_folder_content_are_private(echo):
    assert (echo.directory / "id_ed25519").stat().st_mode & 0o077 == 0


def openssh(echo, *words: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = ["ssh", "-F", str(echo.directory / "ssh_config"), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=20, **options)


def test_plain_openssh_runs_a_command_with_the_generated_config(echo):
    done = openssh(echo, "echo", "hello", stdin=subprocess.DEVNULL)
    assert (done.stdout, done.stderr, done.returncode) == ("hello", "done\n", 7)


def test_plain_openssh_feeds_stdin_to_a_command(echo):
    assert openssh(echo, "echo", "stdin", input="some text\n").stdout == "some text\n"


def test_a_shell_on_a_terminal_echoes_and_answers(echo):
    channel = echo.client().invoke_shell(width=511)
    assert read_until(channel, "> ") == "welcome\r\n> "
    channel.send("one\n")
    assert read_until(channel, "> ") == "one\r\n[one]\r\n> "


def test_a_long_line_is_echoed_without_anything_between(echo):
    channel = echo.client().invoke_shell(width=80)
    read_until(channel, "> ")
    channel.send("x" * 300 + "\n")
    assert read_until(channel, "> ") == "x" * 300 + "\r\n[" + "x" * 300 + "]\r\n> "


def test_lines_typed_ahead_are_answered_in_order(echo):
    channel = echo.client().invoke_shell()
    read_until(channel, "> ")
    channel.send("one\rtwo\r\nthree\n")
    text = read_until(channel, "[three]\r\n> ")
    assert text == "one\r\n[one]\r\n> two\r\n[two]\r\n> three\r\n[three]\r\n> "


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("hellx\x7fo\r", "hello"),
        ("wrong\x15hello\r", "hello"),
        ("say hi\x17hello\r", "say hello"),
        ("he\x1b[D\x1b[3~\x1bOHllo\r", "hello"),
        ("forgotten\x03hello\r", "hello"),
        ("tab\there\r", "tabhere"),
    ],
)
def test_the_usual_editing_keys_work(echo, typed, meant):
    channel = echo.client().invoke_shell()
    read_until(channel, "> ")
    channel.send(typed)
    assert read_until(channel, f"[{meant}]\r\n> ")


def test_keys_are_handed_over_one_by_one_without_echo_when_asked_for(echo):
    channel = echo.client().invoke_shell()
    read_until(channel, "> ")
    channel.send("key\r")
    channel.send("qnext\r")
    assert read_until(channel, "[next]\r\n> ") == "key\r\n<q>\r\n> next\r\n[next]\r\n> "


def test_control_d_on_an_empty_line_ends_the_shell(echo):
    channel = echo.client().invoke_shell()
    read_until(channel, "> ")
    channel.send("\x04")
    assert channel.recv_exit_status() == 0


def test_a_shell_without_a_terminal_gets_plain_lines(echo):
    done = openssh(echo, "-T", "echo", input="one\ntwo\n")
    assert done.stdout == "welcome\n> [one]\n> [two]\n> "


def test_an_ssh_signal_request_reaches_the_command(echo):
    client = echo.client()
    _, output, _ = client.exec_command("later")
    send_signal(output.channel, "TERM")
    send_signal(output.channel, "INT")
    assert output.channel.recv_exit_status() == 130
    assert echo.face.events == ["TERM", "interrupt"]


def test_a_break_interrupts(echo):
    client = echo.client()
    _, output, _ = client.exec_command("later")
    message = paramiko.Message()
    message.add_byte(paramiko.common.cMSG_CHANNEL_REQUEST)
    message.add_int(output.channel.remote_chanid)
    message.add_string("break")
    message.add_boolean(False)
    message.add_int(500)
    client.get_transport()._send_user_message(message)
    assert output.channel.recv_exit_status() == 130


def send_signal(channel: paramiko.Channel, name: str) -> None:
    """RFC 4254 section 6.9; paramiko has no call for it."""
    message = paramiko.Message()
    message.add_byte(paramiko.common.cMSG_CHANNEL_REQUEST)
    message.add_int(channel.remote_chanid)
    message.add_string("signal")
    message.add_boolean(False)
    message.add_string(name)
    channel.get_transport()._send_user_message(message)


def test_many_clients_at_once_are_all_served(echo):
    def one(number: int) -> str:
        with echo.client() as client:
            return run(client, f"1 {number}")[0]

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(one, range(36))) == [str(number) for number in range(36)]


def test_port_forwarding_is_not_offered(echo):
    transport = echo.client().get_transport()
    with pytest.raises(paramiko.ChannelException):
        transport.open_channel("direct-tcpip", ("127.0.0.1", 22), ("127.0.0.1", 1))
    assert socket.gethostbyname("localhost") == "127.0.0.1"


def test_a_mistake_in_a_face_is_not_hidden(echo):
    mistakes = []

    def fail(command: str, console: object) -> None:
        raise LookupError("a mistake in the emulation")

    echo.in_loop(
        lambda: echo.loop.set_exception_handler(lambda _, context: mistakes.append(context))
    )
    client = echo.client()
    echo.face.execute = fail
    client.exec_command("anything", timeout=5)
    client.get_transport().join(5)
    assert not client.get_transport().is_active()
    assert str(mistakes[0]["exception"]) == "a mistake in the emulation"


def test_printing_to_a_client_that_has_just_closed_harms_nobody(echo):
    class ClosedChannel:
        def write(self, text: str, kind: object) -> None:
            raise BrokenPipeError("Channel not open for sending")

    session = ConsoleSession(echo.face, "root")
    session._channel = ClosedChannel()
    session.write("late")
    session.write_error("later")
    assert session._status is None


def test_a_folder_with_somebody_elses_key_is_not_written_into(echo, tmp_path):
    mine = tmp_path / "ssh"
    mine.mkdir()
    (mine / "id_ed25519").write_text("my only key")
    with pytest.raises(LabError, match="a file that no simulated lab made"):
        Keyring(["echo"], mine)
    assert (mine / "id_ed25519").read_text() == "my only key"
    Keyring(["echo"], echo.directory).write([echo.address])
