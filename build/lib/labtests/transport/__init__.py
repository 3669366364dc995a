"""A session with a device: commands, replies, batches of them, and SSH."""
