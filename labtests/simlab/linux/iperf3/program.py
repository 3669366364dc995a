"""Filled by the next commit."""
TOOLS = {}
