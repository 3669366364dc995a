"""A platform stays small: what it needs is tables and recordings on a kit."""

import pytest
from platform_lines import MOST, code_lines, lines_of


@pytest.mark.parametrize("platform", MOST)
def test_driver_and_face_are_within_their_budget(platform):
    code, every = lines_of(platform)
    assert 500 < code < every
    assert code <= MOST[platform]


def test_docstrings_comments_and_blank_lines_are_no_code():
    text = '''"""Module."""

# a comment
def one(value):  # counted
    """Two
    lines."""
    text = """not
a docstring"""
    return (
        value,  # counted
    )
'''
    assert code_lines(text) == 6
