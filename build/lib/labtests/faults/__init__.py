"""The catalogue of faults of real labs, and the gate that runs suites against each of them.

A fault that leaves all the suites green that it names, or that they blame on something else, is a
defect of labtests (docs/faults.md).
"""
