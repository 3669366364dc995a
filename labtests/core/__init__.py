"""What every room may use: errors, units, signals, files of our own, and what may be shown."""
