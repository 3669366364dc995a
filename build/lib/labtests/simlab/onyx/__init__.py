"""An emulated switch with Onyx (MLNX-OS), as tables for `switch_cli`.

What it prints has the form of recordings; its configuration lines are those of guides and programs.
What neither shows is from memory, and says so.
"""
