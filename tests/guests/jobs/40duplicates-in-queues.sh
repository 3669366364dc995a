n=labtests:slow:sw
tc -n $n qdisc show dev swp3
for c in 10 11 12 13 14 15 16 17; do tc -n $n qdisc replace dev swp3 parent 1:$c handle 7$c: netem duplicate 2% limit 80; done
python -m pytest -p no:cacheprovider suites/test_below_bottleneck.py --testbed /host/slow.yaml --no-controls --run-dir /host/run-30
tc -n $n -s qdisc show dev swp3
