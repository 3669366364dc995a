"""An emulated Nexus 9000 with NX-OS, as tables for `switch_cli`.

What it prints has the form of recordings (screens); its configuration lines are those of published
configurations. What neither shows is from memory, and says so.
"""
