# What do the qdiscs of this kernel count of what a netem loses and doubles, and of frames too large for a tbf? A VLAN port?
ip netns add x; ip netns add y; ip link add x0 netns x type veth peer name y0 netns y
ip -n x addr add 10.99.0.1/24 dev x0; ip -n y addr add 10.99.0.2/24 dev y0; ip -n x link set x0 up; ip -n y link set y0 up; ip -n y link set lo up
ping_() { ip netns exec x python3 -c '
import socket,time
s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 96)
for i in range(500): s.sendto(b"x"*400,("10.99.0.2",9999)); time.sleep(0.001)
time.sleep(1)'; tc -n x -s qdisc show dev x0; ip netns exec y cat /proc/net/snmp | grep Udp: ; ip -n y -s link show y0 | tail -4; }
ip netns exec x ping -c 1 10.99.0.2
echo "--- tbf > netem loss"; tc -n x qdisc add dev x0 root handle 1: tbf rate 20mbit burst 5000 limit 100000; tc -n x qdisc add dev x0 parent 1:1 handle 2: netem loss 10%; ping_
echo "--- htb > netem duplicate"; tc -n x qdisc del dev x0 root; tc -n x qdisc add dev x0 root handle 1: htb default 10; tc -n x class add dev x0 parent 1: classid 1:10 htb rate 20mbit; tc -n x qdisc add dev x0 parent 1:10 handle 2: netem duplicate 10%; ping_; tc -n x -s -j qdisc show dev x0
echo "--- netem loss > ets > bfifo"; tc -n x qdisc del dev x0 root; tc -n x qdisc add dev x0 root handle 1: netem loss 10%; tc -n x qdisc add dev x0 parent 1:1 handle 2: ets bands 3 strict 3; for i in 1 2 3; do tc -n x qdisc add dev x0 parent 2:$i handle 3$i: bfifo limit 100000; done;  ping_;  tc -n x -s -d -j qdisc show dev x0
echo "--- tbf too small a burst > ets"; tc -n x qdisc del dev x0 root; tc -n x qdisc add dev x0 root handle 1: tbf rate 20mbit burst 300 limit 100000; tc -n x qdisc add dev x0 parent 1:1 handle 2: ets bands 3 strict 3; for i in 1 2 3; do tc -n x qdisc add dev x0 parent 2:$i handle 3$i: bfifo limit 100000; done;  ping_
echo "--- 802.1Q over it"; tc -n x qdisc del dev x0 root; ip -n x link add link x0 name x0.7 type vlan id 7; ip -n y link add link y0 name y0.7 type vlan id 7; ip -n x link set x0.7 up; ip -n y link set y0.7 up; ip -n x addr add 10.98.0.1/24 dev x0.7; ip -n y addr add 10.98.0.2/24 dev y0.7; ip netns exec x ping -c 2 10.98.0.2; tc -n x -s qdisc show dev x0.7; ip -n x -d link show x0.7; ip -n x link show dev x0.7
