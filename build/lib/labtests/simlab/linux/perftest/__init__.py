"""Emulated perftest: ib_send_bw, ib_write_bw and ib_read_bw between hosts of the lab."""
