"""What every room may use: errors, units, signals, files of our own, SVG, what may be shown."""
