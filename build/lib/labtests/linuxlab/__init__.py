"""A lab of real parts on one Linux machine: network namespaces with their own sshd as devices,
veth pairs as cables, bridges as switches. `labtests linuxlab up | down | status` (needs root)."""
