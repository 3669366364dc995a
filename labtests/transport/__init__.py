"""A session with a device: commands, replies, batches of them, SSH, and recordings of it."""
