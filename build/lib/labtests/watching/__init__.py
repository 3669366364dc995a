"""What streams tell while it happens: ports and priorities in a terminal, a recording, exports.

It listens beside whoever judges, and decides nothing.
"""
