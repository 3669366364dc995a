"""An emulated H3C switch with Comware 7, as tables for `switch_cli`.

What it prints has the form of recordings of the real one (screens); what it refuses, the command
references say is refused.
"""
