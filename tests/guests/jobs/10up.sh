# linuxlab in the guest. /host/slow.yaml is testbeds/linux-lab.yaml with `speed_gbit_per_s: 0.02` and `queue_limit_bytes: 131072`.
ip link set lo up; sysctl -q -w net.core.rmem_max=4194304
mountpoint -q /dev/pts || { mkdir -p /dev/pts; mount -t devpts devpts /dev/pts; }   # with BARE=1
python -m labtests linuxlab up /host/slow.yaml && python -m labtests linuxlab status /host/slow.yaml
