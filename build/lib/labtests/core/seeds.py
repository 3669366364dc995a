"""Which seeds a simulation takes."""

SEED_UNLESS_ASKED = 1
SEED_AT_MOST = 2**31
