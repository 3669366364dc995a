"""The suites that come with labtests: `pytest --pyargs labtests.suites --testbed FILE`."""
