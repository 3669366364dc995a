"""The calendar: every thing that can happen next has one slot with the time it wakes.

Slots: port p starts its next frame (p); a frame arrives at the far end of port p (ports + p); the
timers of port p (2 ports + p, timers.py); the timers of flow f (3 ports + 2 f); the pace of flow f
allows its next packet (3 ports + 2 f + 1).

Slots lie in buckets, as dates do on pages of days, weeks and months. A bucket of level 0 is
2**bucket_shift ps wide, one of the next level 1024 times as wide, and so on. A slot lies on the
level of the highest digit (base 1024) in which its time differs from `opened`, the time the
calendar is opened at; so all of level n come before any of level n + 1. When level 0 is empty, the
first bucket of the first level that is not is opened: its slots move to lower levels. Each slot
moves a few times at most, however many there are.
(Radix heap: Ahuja, Mehlhorn, Orlin and Tarjan, J. ACM 37, 1990.)

How wide buckets should be depends on how many events there are a second, which depends on traffic:
it is measured, and they become narrower than at first, or wider again.

Inside a bucket of level 0 the earlier time comes first, of equal ones the lower slot: the order of
events is defined. One thing comes before any slot: the port that an event has told to start
its next frame now (clock.due; told several ports, the first: the others wake now by their slots).
"""

from labtests.network.arithmetic import lowest_bit
from labtests.network.compiled import compiled, inlined
from labtests.network.rows import bucket_at, clock_at, level_at, port_at, slot_at, word_at
from labtests.network.tables import NEVER, NONE, State

WORD_BITS = 5
DIGIT_BITS = 2 * WORD_BITS
BUCKETS_PER_LEVEL = 1 << DIGIT_BITS
WORDS_PER_LEVEL = 1 << WORD_BITS
LAST_BIT = (1 << WORD_BITS) - 1
"""Which buckets have slots: a bit each in words of 32, and a bit a word in its level's mask."""
LEVELS = 7
"""All times below NEVER have their place, also with the narrowest buckets."""
COUNTED_SLOTS = 8192
"""So many slots wake between two looks at the width of buckets, or a few more."""
FEW, MANY = BUCKETS_PER_LEVEL // 4, BUCKETS_PER_LEVEL // 2
"""Slots that wake for each bucket opened. Four networks of 8 to 128 hosts, of 0.15 to 29 ns from
event to event, are fastest between these; half and double that costs less than a change does."""


@inlined
def bucket_of(t: State, time: int) -> int:
    """The bucket (row) where `time` belongs now."""
    clock = clock_at(t, 0)
    apart = (time ^ clock.opened) >> clock.bucket_shift
    digits = time >> clock.bucket_shift
    row = 0
    while apart >= BUCKETS_PER_LEVEL:
        apart >>= DIGIT_BITS
        digits >>= DIGIT_BITS
        row += BUCKETS_PER_LEVEL
    return int(row + (digits & (BUCKETS_PER_LEVEL - 1)))


@inlined
def note_filled(t: State, row: int) -> None:
    """Bucket `row`, empty so far, has a slot."""
    word = word_at(t, row >> WORD_BITS)
    if word.filled == 0:
        level_at(t, row >> DIGIT_BITS).filled |= 1 << ((row >> WORD_BITS) & LAST_BIT)
    word.filled |= 1 << (row & LAST_BIT)


@inlined
def note_empty(t: State, row: int) -> None:
    """Bucket `row` has no slot any more."""
    word = word_at(t, row >> WORD_BITS)
    word.filled ^= 1 << (row & LAST_BIT)
    if word.filled == 0:
        level_at(t, row >> DIGIT_BITS).filled ^= 1 << ((row >> WORD_BITS) & LAST_BIT)


@inlined
def first_bucket(t: State, level: int) -> int:
    """The first bucket (row) of a level that has one with slots."""
    word = level * WORDS_PER_LEVEL + lowest_bit(level_at(t, level).filled)
    return int(word << WORD_BITS) + lowest_bit(word_at(t, word).filled)


@inlined
def enter(t: State, slot: int) -> None:
    """The slot, in no bucket so far, lies where its time belongs."""
    entry = slot_at(t, slot)
    time = entry.wakes
    row = bucket_of(t, time)
    before = NONE
    after = bucket_at(t, row).head
    if after == NONE:
        note_filled(t, row)
    elif row < BUCKETS_PER_LEVEL:
        while after != NONE and slot_at(t, after).wakes - (after < slot) < time:
            before = after
            after = slot_at(t, after).after
    entry.before = before
    entry.after = after
    if after != NONE:
        slot_at(t, after).before = slot
    if before == NONE:
        bucket_at(t, row).head = slot
    else:
        slot_at(t, before).after = slot


@inlined
def strike(t: State, slot: int) -> None:
    """The slot lies in no bucket any more and does not wake."""
    entry = slot_at(t, slot)
    if entry.after != NONE:
        slot_at(t, entry.after).before = entry.before
    if entry.before != NONE:
        slot_at(t, entry.before).after = entry.after
    else:
        row = bucket_of(t, entry.wakes)
        bucket_at(t, row).head = entry.after
        if entry.after == NONE:
            note_empty(t, row)
    entry.wakes = NEVER


@inlined
def fitting_shift(t: State) -> int:
    """The bucket_shift that suits what has been counted, at most that of the beginning: a level 0
    that is too wide lasts long, and only behind it can that be seen."""
    clock = clock_at(t, 0)
    woken = clock.woken
    shift = clock.bucket_shift
    if clock.openings * FEW <= 2 * woken and woken <= 2 * MANY * clock.openings:
        return int(shift)
    while woken > MANY * clock.openings and shift > 1:
        woken >>= 1
        shift -= 1
    while woken < FEW * clock.openings and shift < clock.widest_shift:
        woken <<= 1
        shift += 1
    return int(shift)


@compiled
def widen(t: State, shift: int) -> None:
    """Buckets of level 0 are 2**shift ps wide from now on."""
    chain = NONE
    for level in range(LEVELS):
        while level_at(t, level).filled != 0:
            row = first_bucket(t, level)
            note_empty(t, row)
            slot = bucket_at(t, row).head
            bucket_at(t, row).head = NONE
            while slot != NONE:
                following = slot_at(t, slot).after
                slot_at(t, slot).after = chain
                chain = slot
                slot = following
    clock_at(t, 0).bucket_shift = shift
    while chain != NONE:
        following = slot_at(t, chain).after
        enter(t, chain)
        chain = following


@inlined
def fit_buckets(t: State) -> None:
    """When enough has been counted: the width suits how often slots wake."""
    clock = clock_at(t, 0)
    clock.openings += 1
    if clock.woken < COUNTED_SLOTS:
        return
    shift = fitting_shift(t)
    clock.woken = clock.openings = 0
    if shift != clock.bucket_shift:
        widen(t, shift)


@compiled
def open_next(t: State, until: int) -> bool:
    """The next bucket above level 0 is opened; False: none begins by `until` ps."""
    clock = clock_at(t, 0)
    level = 1
    while level_at(t, level).filled == 0:
        level += 1
        if level == LEVELS:
            return False
    row = first_bucket(t, level)
    width = clock.bucket_shift + DIGIT_BITS * level
    above = clock.opened >> width >> DIGIT_BITS
    opened = (above << DIGIT_BITS | (row & (BUCKETS_PER_LEVEL - 1))) << width
    if opened > until:
        return False
    clock.opened = opened
    note_empty(t, row)
    bucket = bucket_at(t, row)
    slot = bucket.head
    bucket.head = NONE
    while slot != NONE:
        following = slot_at(t, slot).after
        enter(t, slot)
        slot = following
    fit_buckets(t)
    return True


@inlined
def next_slot(t: State, until: int) -> int:
    """The slot that wakes first, struck out, the clock set to it; NONE: none wakes by `until`."""
    while level_at(t, 0).filled == 0:
        if not open_next(t, until):
            return NONE
    row = first_bucket(t, 0)
    slot = bucket_at(t, row).head
    entry = slot_at(t, slot)
    if entry.wakes > until:
        return NONE
    clock = clock_at(t, 0)
    clock.turn = slot if entry.wakes > clock.now else max(clock.turn, slot)
    clock.now = entry.wakes
    clock.woken += 1
    entry.wakes = NEVER
    bucket_at(t, row).head = entry.after
    if entry.after == NONE:
        note_empty(t, row)
    else:
        slot_at(t, entry.after).before = NONE
    return int(slot)


@inlined
def set_up(t: State, slot: int, time: int) -> None:
    """`slot`, which wakes at no time so far, wakes at `time` ps."""
    slot_at(t, slot).wakes = time
    enter(t, slot)


@compiled
def reschedule(t: State, slot: int, time: int) -> None:
    """`slot` wakes at `time` ps, and no more when it did. (Once, for all but the busiest: of copies
    in each caller the processor would have to hold too many.)"""
    if slot_at(t, slot).wakes != NEVER:
        strike(t, slot)
    if time != NEVER:
        set_up(t, slot, time)


@inlined
def schedule(t: State, slot: int, time: int) -> None:
    """`slot` wakes at `time` ps, and not at any other time."""
    if slot_at(t, slot).wakes != time:
        reschedule(t, slot, time)


@inlined
def wake_by(t: State, slot: int, time: int) -> None:
    """`slot` wakes at `time` ps at the latest."""
    if slot_at(t, slot).wakes > time:
        reschedule(t, slot, time)


@inlined
def wake_port(t: State, p: int) -> None:
    """Port p looks for a frame to send as soon as it is free: next of all, if that is now."""
    clock = clock_at(t, 0)
    free_at = port_at(t, p).busy_until
    if free_at > clock.now:
        wake_by(t, p, free_at)
    elif clock.due == NONE:
        clock.due = p
    elif clock.due != p:
        wake_by(t, p, clock.now)


@inlined
def arrival_slot(t: State, p: int) -> int:
    """The calendar slot of the far end of port p."""
    return int(clock_at(t, 0).ports + p)


@inlined
def flow_slot(t: State, f: int) -> int:
    """The calendar slot of flow f's timers."""
    return int(3 * clock_at(t, 0).ports + 2 * f)


@inlined
def timer_slot(t: State, p: int) -> int:
    """The calendar slot of port p's timers (timers.py)."""
    return int(2 * clock_at(t, 0).ports + p)
