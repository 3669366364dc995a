"""Text of a device where a person reads it: nothing in it moves a cursor, hides or turns a word."""

_SHOWN = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"}
_SHOWN |= dict.fromkeys((0xAD, 0x61C, *range(0x7F, 0xA0), *range(0x200B, 0x2010)), 0xFFFD)
_SHOWN |= dict.fromkeys((*range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF), 0xFFFD)
_SHOWN |= dict.fromkeys((*range(0xFFF9, 0xFFFC), 0xFFFE, 0xFFFF), 0xFFFD)  # no XML has the last two
_SHOWN[0x7F] = 0x2421


def visible(text: str) -> str:
    """Text that can be written as UTF-8 and hides nothing: control characters become their
    pictures; marks that turn the direction of writing or have no width, and half characters,
    become U+FFFD. Tabs and line ends stay."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").translate(_SHOWN)


def for_terminal(text: str) -> str:
    """The same for a terminal, where a carriage return would write over what stands there."""
    return visible(text.replace("\r\n", "\n")).replace("\r", "\u240d")
