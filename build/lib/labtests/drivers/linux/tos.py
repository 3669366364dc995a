"""The priority (sk_buff) that Linux gives what a socket with a TOS byte sends: rt_tos2priority, by
the table ip_tos2prio of net/ipv4/route.c."""

_TOS_MASK = 0x1E  # IPTOS_TOS_MASK: rt_tos2priority looks at these bits
_PRIORITY_OF_TOS = (0, 0, 0, 0, 2, 2, 2, 2, 6, 6, 6, 6, 4, 4, 4, 4)


def socket_priority(tos: int) -> int:
    """0, 2, 4 or 6."""
    return _PRIORITY_OF_TOS[(tos & _TOS_MASK) >> 1]
