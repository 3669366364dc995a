"""Studies on the packet network: sweeps over keys of a case or profile, and settings tuned to three
goals over many patterns of traffic (docs/studies.md).

form, reader: a sweep file. varying, tree: its points. patterns: traffic by name. probing, carrying,
measures: what a run of one point gives. working: points on all cores, or on a dask cluster; ledger:
what is finished, on the disk. tables, page: looking at it. bounds, goals, tuning, proposal: tune.
"""
