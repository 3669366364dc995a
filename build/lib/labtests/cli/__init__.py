"""The commands of `labtests` that have no room of their own; __main__.py joins them all."""
