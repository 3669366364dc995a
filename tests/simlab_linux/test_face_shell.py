"""The emulated shell: quoting, lists, redirections, expansion, and its complaints."""

import pytest
from linux_bench import FakeConsole, Hands


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("echo a   b", "a b\n"),
        ("echo 'a   b' \"c $((2 + 3 * 4))\" d\\ e", "a   b c 14 d e\n"),
        ("echo $HOME ~/x '$HOME'", "/root /root/x $HOME\n"),
        ("X=5; echo \"$X\" ${X} ${Y:-unset} '' | cat", "5 5 unset \n"),
        ("true && echo yes || echo no", "yes\n"),
        ("false && echo yes || echo no", "no\n"),
        ("false; echo $?; true; echo $?", "1\n0\n"),
        ("! true; echo $?", "1\n"),
        ("(cd /tmp; pwd); pwd", "/tmp\n/root\n"),
        ("for i in 1 2 3; do echo -n $i,; done; echo", "1,2,3,\n"),
        ("if [ -d /sys/class/net ]; then echo there; else echo gone; fi", "there\n"),
        ("i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; echo $i", "3\n"),
        ("echo $(hostname) `hostname`", "ServerA ServerA\n"),
        ("printf '%s=%05d\\n' a 7 b 8", "a=00007\nb=00008\n"),
        ("echo one > /tmp/f; echo two >> /tmp/f; cat < /tmp/f; wc -l < /tmp/f", "one\ntwo\n2\n"),
        ("cat /nowhere 2>/dev/null || echo $?", "1\n"),
        ("cat /nowhere 2>&1 | head -1", "cat: /nowhere: No such file or directory\n"),
        ("printf 'b\\na\\nc\\n' | sort | head -n 2 | tail -1", "b\n"),
        ("printf 'x 1\\ny 2\\n' | grep -E '^(x|z)' | cut -d' ' -f2", "1\n"),
        ("printf 'a\\nb\\n' | grep -c .; printf 'a\\nb\\n' | grep -v a", "2\nb\n"),
        ("sh -c 'echo \"$0 $1\"' name first", "name first\n"),
        ("bash -c 'exit 3'; echo $?", "3\n"),
        ("env A=1 sh -c 'echo $A'; echo ${A:-none}", "1\nnone\n"),
        ("echo a # comment\necho b", "a\nb\n"),
        ("{ echo a; echo b; } | sed s/b/y/", "a\ny\n"),
        ("echo data | tee /tmp/t | cat; cat /tmp/t", "data\ndata\n"),
        ("type cd; command -v ethtool; which mlnx_qos", "cd is a shell builtin\n"
         "/usr/sbin/ethtool\n/usr/bin/mlnx_qos\n"),
        ("echo /sys/class/infiniband/*/ports/*/st?te /no*", "/sys/class/infiniband/mlx5_0/ports/1/"
         "state /no*\n"),
        ("cd /sys/class/net; echo *; ls", "enp3s0f0np0\nenp3s0f0np0\n"),
        ("echo '*' \"*\"", "* *\n"),
        ("sudo -n id -u; sudo -n sh -c 'echo hi'", "0\nhi\n"),
        ("stdbuf -oL setsid echo wrapped", "wrapped\n"),
    ],
)  # fmt: skip
def test_the_shell_does_what_bash_does(hands: Hands, command: str, printed: str) -> None:
    session = hands.run(command)
    assert session.out == printed
    assert session.err == ""


@pytest.mark.parametrize(
    ("command", "status", "complaint"),
    [
        ("foo", 127, "bash: line 1: foo: command not found\n"),
        ("sh -c foo", 127, "sh: line 1: foo: command not found\n"),
        ("/usr/bin/foo", 127, "bash: line 1: /usr/bin/foo: No such file or directory\n"),
        ("true\n\nfoo", 127, "bash: line 3: foo: command not found\n"),
        ("timeout 5 foo", 127,
         "timeout: failed to run command ‘foo’: No such file or directory\n"),
        ("env foo", 127, "env: ‘foo’: No such file or directory\n"),
        ("sudo -n foo", 1, "sudo: foo: command not found\n"),
        ("cat /x", 1, "cat: /x: No such file or directory\n"),
        ("cat /sys/class/net", 1, "cat: /sys/class/net: Is a directory\n"),
        ("ls /x", 2, "ls: cannot access '/x': No such file or directory\n"),
        ("echo a > /nowhere/f", 1, "bash: line 1: /nowhere/f: No such file or directory\n"),
        ("echo a > /tmp", 1, "bash: line 1: /tmp: Is a directory\n"),
        ("cd /x", 1, "bash: line 1: cd: /x: No such file or directory\n"),
        ("echo 'a", 2, "bash: line 1: unexpected EOF while looking for matching `''\n"),
        ("echo a )", 2, "bash: line 1: syntax error near unexpected token `)'\n"),
        ("&& true", 2, "bash: line 1: syntax error near unexpected token `&&'\n"),
        ("grep x /x", 2, "grep: /x: No such file or directory\n"),
        ("kill -0 -- -4242", 1, "bash: line 1: kill: (-4242) - No such process\n"),
        ("sleep soon", 1, "sleep: invalid time interval ‘soon’\n"),
    ],
)  # fmt: skip
def test_the_shell_complains_in_the_real_words(
    hands: Hands, command: str, status: int, complaint: str
) -> None:
    session = hands.run(command)
    assert (session.status, session.err, session.out) == (status, complaint, "")


def test_the_wrapper_of_a_run_passes_status_and_streams_on(hands: Hands) -> None:
    session = hands.run("timeout -k 2 10 sh -c 'echo out; echo err >&2; exit 5'")
    assert (session.status, session.out, session.err) == (5, "out\n", "err\n")


def test_input_of_the_session_reaches_the_command(hands: Hands) -> None:
    session = hands.run("tee /tmp/in >/dev/null; cat /tmp/in")
    assert session.status is None
    session.on_data("first\n")
    session.on_data("second\n")
    session.on_eof()
    assert (session.status, session.out) == (0, "first\nsecond\n")


def typed(session: FakeConsole, *lines: str) -> None:
    for line in lines:
        session.on_line(line)


def test_an_interactive_shell_prompts_and_remembers(hands: Hands) -> None:
    session = FakeConsole(pty=True)
    hands.lab.devices["ServerA"].shell(session)
    assert session.out == "root@ServerA:~# "
    typed(session, "X=1", "cd /tmp", "echo $X; foo", "exit 4")
    assert session.status == 4
    assert "root@ServerA:/tmp# 1\n-bash: foo: command not found\n" in session.out


def test_control_c_ends_the_command_and_not_the_shell(hands: Hands) -> None:
    session = FakeConsole(pty=True)
    hands.lab.devices["ServerA"].shell(session)
    typed(session, "sleep 100")
    hands.advance(1)
    session.on_interrupt()
    typed(session, "echo $?")
    assert session.out.endswith("^C\nroot@ServerA:~# 130\nroot@ServerA:~# ")


def test_a_login_shell_ends_with_its_jobs_when_the_client_goes(hands: Hands) -> None:
    session = FakeConsole(pty=True)
    hands.lab.devices["ServerA"].shell(session)
    typed(session, "sleep 100")
    hands.lab.devices["ServerA"].hang_up(session)
    assert hands.run("pgrep sleep").status == 1


def test_a_user_who_is_not_root_cannot_change_anything(hands: Hands) -> None:
    path = "/sys/class/net/enp3s0f0np0/ecn/roce_rp/enable/2"
    session = hands.run(f"echo 0 > {path}; cat {path}", username="lab")
    assert (session.out, session.err) == ("1\n", f"bash: line 1: {path}: Permission denied\n")
    assert hands.run(f"echo 0 | sudo -n tee {path}; cat {path}", username="lab").out == "0\n0\n"
    refused = hands.run("mlnx_qos -i enp3s0f0np0 -f 1,0,0,0,0,0,0,0", username="lab")
    assert (refused.status, refused.out) == (1, "[Errno 1] Operation not permitted\n")


@pytest.mark.parametrize(
    ("command", "status", "printed"),
    [
        ("set -e; false || true; ! false; if false; then :; fi; echo a; (exit 3); echo b", 3,
         "a\n"),
        ("set -e; x=$(false); echo b", 1, ""),
        ("set -e; { false; echo a; } || echo b; true && false; echo c", 1, "a\n"),
        ("bash -ec 'false; echo b'; echo $?", 0, "1\n"),
        ("false | true; echo $?; set -o pipefail; false | true; echo $?", 0, "0\n1\n"),
        ("set -u; echo ${x:-d} ${x-e}$#; echo $x; echo b", 127, "d e0\n"),
        ("set -C; echo a > /tmp/c; echo b > /tmp/c || cat /tmp/c", 0, "a\n"),
        ("set -- a 'b c'; for i in \"$@\"; do echo $i; done; for i; do echo $i; done", 0,
         "a\nb c\na\nb c\n"),
        ("f=/a/b.t.gz; echo ${f##*/} ${f#*/} ${f%.*} ${f%%.*} ${f%.x} ${#f} ${f:+s}${g+s}", 0,
         "b.t.gz a/b.t.gz /a/b.t /a/b /a/b.t.gz 9 s\n"),
        ("y=z; echo ${x:-$y} ${x:-'a b'} $(( $(echo 4) + 1 )); set -- 7; echo $(($1 + 1))", 0,
         "z a b 5\n8\n"),
        ("echo $((1700000000999999999 / 1000000)) $((-7 / 2)) $((-7 % 2))", 0,
         "1700000000999 -3 -1\n"),
        ("x=$(exit 3); echo $?; exit 4; echo b", 4, "3\n"),
        ("x=' a  b '; echo $x'c' [$x]; printf ' a \\n' | while IFS= read -r l; do echo [\"$l\"]; "
         "done", 0, "a b c [ a b ]\n[ a ]\n"),
        ("y='~'; x=$y; echo $x ~root ~/x ~rootless", 0, "~ /root /root/x ~rootless\n"),
        ("[ -d /tmp ] && [ -w /tmp ] && cat /dev/null && grep -c ^root: /etc/passwd", 0, "1\n"),
        ("printf '\\033[1m\\x41\\n'; echo -e '\\0101\\te'", 0, "\033[1mA\nA\te\n"),
    ],
)  # fmt: skip
def test_a_script_does_what_bash_does(
    hands: Hands, command: str, status: int, printed: str
) -> None:
    session = hands.run(command)
    assert (session.status, session.out) == (status, printed)


@pytest.mark.parametrize(
    "command",
    [
        "set -x", "set", "trap 'echo bye' EXIT", "IFS=,", "echo ${X:1:1}", "echo ${X/a/b}",
        "echo ${X^^}", "echo \"${X,,}\"", "echo ${!X}", "echo ${X:=a}", "echo ${a:-${b}}",
        "echo $(echo ${X^^})", "echo {1..3}", "echo a{b,c}", "[[ a == a ]]",
        "case a in a) :;; esac", "f() { :; }", "a=(1 2)", "((i=3))",
        "for ((i=0;i<2;i++)); do :; done", "echo $'a\\tb'", "cat <<E", "exec 3>/tmp/q",
        "echo >&3", "local x=1", "eval ls", "source x", "shopt -s nullglob", "shift",
        "time true", "command ls",
        "for i in 1; do break 2; done", "for i in 1; do for j in 1; do continue 2; done; done",
        "printf -v x 5", "read -a x",
        "export -p", "type -t ls", "umask", "wait -n",
    ],
)  # fmt: skip
def test_what_the_shell_does_not_do_is_refused_and_ends_the_script(
    hands: Hands, command: str
) -> None:
    session = hands.run(f"{command}; echo never")
    assert (session.status, session.out) == (2, "")
    assert session.err.count("the simulated box does not emulate this") == 1


def test_a_refusal_at_a_prompt_leaves_the_prompt(hands: Hands) -> None:
    session = FakeConsole(pty=True)
    hands.lab.devices["ServerA"].shell(session)
    typed(session, "set -x", "echo $?")
    assert session.out.endswith(
        "does not emulate this: set -x\nroot@ServerA:~# 2\nroot@ServerA:~# "
    )
