"""Emulated perftest: ib_send_bw between hosts of the lab."""
