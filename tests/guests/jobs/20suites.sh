python -m pytest -p no:cacheprovider suites --testbed /host/slow.yaml -v --run-dir /host/run-suites
