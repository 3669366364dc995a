"""Secrets do not leave the process: not in the journal, not in a log that a report shows.

Two ways of knowing one: its value (passwords from the environment), however it is written
(encodings.py); and its place (`password hunter2`, `cipher $c$3$...`, a private key), where only the
value goes. Time is linear in the text's length: a device chooses the text.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from labtests.core.encodings import Spelled

HIDDEN = "***"
SHORTEST_SECRET = 4  # characters; shorter values would shred ordinary output

# possessive runs (`*+`) and bounds everywhere: no part of a text is looked at again and again
_PRIVATE_KEY = re.compile(
    r"(-----BEGIN [A-Z0-9 ]{0,64}?PRIVATE KEY-----).*?"
    r"(-----END [A-Z0-9 ]{0,64}?PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
_QUOTE = r"(?:\\*+[\"'])?+"
# Comware: `password simple X`, `snmp-agent community read cipher X`, `key authentication cipher X`;
# IOS style: `secret 5 X`, `password 7 X`
_ENCODED = re.compile(
    r"(\b(?:password|passwd|passphrase|secret|community|key|md5|sha)\b"
    r"[^\n]{0,80}?\b(?:cipher|simple|hash|plain(?:text)?)[ \t]++"
    r"|\b(?:password|passwd|secret|md5|key-string|authentication-key|key-octet-string)"
    r"[ \t]++(?:10|[0-9])[ \t]++(?:md5[ \t]++)?+"
    r"|\bkey[ \t]++[067][ \t]++|\bsecret[ \t]++sha512[ \t]++|\bpriv[ \t]++(?=0x)"
    r"|\b(?:snmp-server[ \t]++community|authentication[ \t]++text|key[ \t]++ascii)[ \t]++"
    r"|\b(?:auth|priv)[ \t]++(?:md5|sha|sha-?256|des|aes-?128)[ \t]++(?=0x))"
    r"([\"']?[^\s\"',]++)",
    re.IGNORECASE,
)
# `password X`, `password=X`, `"password": "X y"`, `'password': 'X'`; not None, not prose such as "a
# password is required" or a prompt `password for root:`, and not the words that _ENCODED reads
_NAMED = re.compile(
    rf"((?<![A-Za-z0-9])(?:password|passwd|passphrase)\b{_QUOTE}"
    r"(?:[ \t]*+[:=][ \t]*+|[ \t]++))"
    r"(?!(?:is|was|are|for|required|prompt|and|or|has|must|cannot|authentication|auth|login|role"
    r"|level|control|recovery|None|null|true|false|cipher|simple|hash|plain)\b|\*{3}"
    r"|(?:10|[0-9])[ \t]++\*{3})"
    r"(?:(?P<quote>\\*+[\"'])(?!\*{3}(?P=quote))[^\n]{1,512}?(?P=quote)|[^\s\"'\\,]++"
    r"|(?P<open>\\*+[\"'])(?!\*{3})[^\s\"'\\,]++)",
    re.IGNORECASE,
)


_WORDS = ("passw", "passphrase", "secret", "community", "key", "md5", "sha", "authentic", "priv")


def _may_name_one(text: str) -> bool:
    """Whether a word of the patterns above is in it: most answers have none. Letters that are no
    ASCII may be other cases of those of a word."""
    small = text.lower() if text.isascii() else ""
    return not text.isascii() or any(word in small for word in _WORDS)


class Redaction:
    """What to hide: the values of these secrets, and everything at a place where secrets stand."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {secret for secret in secrets if len(secret) >= SHORTEST_SECRET}
        longest_first = sorted(known, key=lambda secret: (-len(secret), secret))
        self._spelled = Spelled(longest_first)

    def text(self, text: str) -> str:
        """The text with `***` in place of every secret."""
        text = self._spelled.hidden(text, HIDDEN)
        if not _may_name_one(text):
            return text
        named = _PRIVATE_KEY.sub(rf"\1{HIDDEN}\2", text)
        named = _ENCODED.sub(rf"\g<1>{HIDDEN}", named)
        named = _NAMED.sub(rf"\g<1>\g<open>\g<quote>{HIDDEN}\g<quote>", named)
        return text if named == text else self._spelled.hidden(named, HIDDEN)

    def value(self, value: Any) -> Any:
        """The same for every string inside a value of JSON."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: self.value(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        return value


class RedactingFilter(logging.Filter):
    """A record that passes holds no secret, neither in its message nor in its traceback.

    For a *handler*. On a logger it would not see what child loggers (paramiko.transport) pass up;
    `redacted_logs` sees everything.
    """

    def __init__(self, redaction: Redaction) -> None:
        super().__init__()
        self._redaction = redaction

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record; it always passes."""
        try:
            message = record.getMessage()
        except (TypeError, ValueError):  # a library's wrong format string
            message = f"{record.msg} {record.args}"
        record.msg, record.args = self._redaction.text(message), None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._redaction.text(record.exc_text)
        return True


@contextmanager
def redacted_logs(redaction: Redaction) -> Iterator[None]:
    """Inside, no log record of any library at any level holds a secret, whoever handles it."""
    earlier, redact = logging.getLogRecordFactory(), RedactingFilter(redaction)

    def redacted(*args: Any, **named: Any) -> logging.LogRecord:
        record = earlier(*args, **named)
        redact.filter(record)
        return record

    logging.setLogRecordFactory(redacted)
    try:
        yield
    finally:
        logging.setLogRecordFactory(earlier)
