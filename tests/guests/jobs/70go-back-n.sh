# Go-back-N of soft-RoCE over a netem, in one guest with the kernel of BACKPORTS, after 10up.sh. /host/slow.yaml has besides `queue_limit_bytes: 400000` and,
# at the ports of the hosts, `rdma: rxe1` to `rdma: rxe3`.
modprobe rdma_rxe; modprobe rdma_ucm; modprobe sch_netem
for i in 1 2 3; do ip netns exec labtests:slow:h$i rdma link add rxe$i type rxe netdev eth1; done
ip netns exec labtests:slow:h3 timeout 30 ib_write_bw -d rxe3 --report_gbits -F -D 5 -R -T 96 -p 20001 &   # by hand, to begin with
sleep 3
ip netns exec labtests:slow:h1 timeout 30 ib_write_bw -d rxe1 --report_gbits -F -D 5 -R -T 96 -p 20001 10.71.0.3
wait
python -m pytest -p no:cacheprovider suites/test_go_back_n.py --testbed /host/slow.yaml -v --run-dir /host/run-go-back-n
