"""docs/coverage.md says what the suites say of themselves."""

import re

from page import GROUPS, ROOT, cases, covered, lines


def test_the_page_is_that_of_the_suites():
    page = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    assert page == "\n".join(lines()) + "\n", "python tests/coverage/page.py > docs/coverage.md"


def test_each_case_is_covered_or_says_why_not():
    _, every = cases()
    marked = covered()
    numbers = [each.number for each in every]
    assert len(set(numbers)) == len(numbers) == 110
    assert set(marked) <= set(numbers)
    assert [each.number for each in every if each.number not in marked and not each.why] == []
    assert all(re.fullmatch(rf"[{''.join(GROUPS)}]\d+", number) for number in numbers)
    assert all(each.what and each.source for each in every)


def test_most_suites_have_a_case():
    """The others are of what a vendor's documents describe, and no project tests."""
    tests = {test for found in covered().values() for _, test in found}
    assert len(tests) >= 16
