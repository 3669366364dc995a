"""What the terminal, the report and an exception say of a negative control, in the same words."""


def right_control(expected: str) -> str:
    """Of one that is what it has to be: fail, or inconclusive."""
    return f"{_ended(expected)}, as required"


def wrong_control(outcome: str, expected: str) -> str:
    """Of one that is not: by its outcome, or by its reason."""
    if outcome == "pass":
        due = "fail" if expected == "fail" else f"be {expected}"
        return f"NEGATIVE CONTROL PASSED (it has to {due})"
    if outcome != expected:
        return f"CONTROL IS {outcome.upper()}, EXPECTED {expected.upper()}"
    return f"CONTROL {_ended(outcome).upper()} FOR THE WRONG REASON"


def _ended(outcome: str) -> str:
    return "failed" if outcome == "fail" else f"is {outcome}"
