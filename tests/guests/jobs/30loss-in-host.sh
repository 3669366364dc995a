n=labtests:slow:h1
tc -n $n qdisc show dev eth1
h=$(tc -n $n qdisc show dev eth1 | awk '/tbf/ {print $3}')
tc -n $n qdisc add dev eth1 parent ${h}1 handle 77: netem loss 3% limit 1000
python -m pytest -p no:cacheprovider suites/test_below_bottleneck.py --testbed /host/slow.yaml --no-controls --run-dir /host/run-20
tc -n $n -s qdisc show dev eth1
# a deleted child of tbf is `noop`, which drops everything: put a fifo there
tc -n $n qdisc replace dev eth1 parent ${h}1 bfifo limit 4194304
