"""What public simulators and closed forms say, and how this network compares.

checks.json, runs.json: expected values with tolerances, and the parameters of the runs they come
from (sources inside). translation: a run's parameters as a case. formulas: closed forms. judging:
one check against a measurement. comparing, theory: the checks. validation: all of them.
"""
