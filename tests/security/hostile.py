"""Strings that somebody would try."""

from hypothesis import strategies as st

CANARY = "owned"  # a file; what runs makes it

SHELL = (
    f"$(touch {CANARY})",
    f"`touch {CANARY}`",
    f"; touch {CANARY} ;",
    f"eth0; touch {CANARY} #",
    f"' ; touch {CANARY} ; '",
    f'" ; touch {CANARY} ; "',
    f"eth0\ntouch {CANARY}\n",
    f"eth0\rtouch {CANARY}\r",
    f"| touch {CANARY}",
    f"& touch {CANARY} &",
    f"&& touch {CANARY}",
    f"> {CANARY}",
    f"<({CANARY})",
    f"${{IFS}}touch${{IFS}}{CANARY}",
    f"eth0$IFS;touch$IFS{CANARY}",
    f"\\\ntouch {CANARY}",
    f"'\\''$(touch {CANARY})",
    f"!touch {CANARY}",
    f"*?[a]~{CANARY}",
)
OPTIONS = ("-rf", "--help", "-i", "--", "-oProxyCommand=touch owned", "--trust", "-")
TERMINAL = (
    "\x1b[2J\x1b[31mred",
    "\x1b]0;title\x07",
    "\x9b31m",
    "a\x00b",
    "a\x7f\x08\x08",
    "\u202efdp.exe",
    "zero\u200bwidth",
    "line\u2028separator",
    "---- More ----",
    "  ---- More ----",
    "<H3C>",
    "[H3C]",
    "Continue? [Y/N]:",
    "\x03",
    "\x04",
    "\x1a",
    "a\tb",
    "?",
)
LOOKALIKES = ("еth0", "eth０", "ｅｔｈ０", "eth0․1", "m1x5_0\u0301", "Twenty‐FiveGigE1/0/14")
LONG = ("x" * 5000, "1/0/" + "9" * 3000)
PATHS = ("../../etc/passwd", "/etc/passwd", "..", ".", "a/../b")
EVERY = (*SHELL, *OPTIONS, *TERMINAL, *LOOKALIKES, *LONG, *PATHS, "", " ", "\ud800")

# no `/`, so that nothing a real shell would be made to write leaves its folder
_SPECIAL = "'\"`$(){}[];|&<>\\*?!#~^=%@:,.-_ \t\n\r\x00\x1b\x9b\u202e"
generated = st.one_of(
    st.sampled_from(EVERY),
    st.text(alphabet=st.sampled_from(_SPECIAL + "ethouchwned019"), max_size=40),
    st.lists(st.sampled_from((*SHELL, *TERMINAL, "eth0")), min_size=1, max_size=3).map("".join),
)
