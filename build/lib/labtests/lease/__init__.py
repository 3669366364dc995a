"""Who has the lab: a lease kept on one of its own hosts, so that every runner sees it.

`with holding(lab, why="..."):` (holding.py) around whatever changes a lab. See docs/lease.md.
"""
