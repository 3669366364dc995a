"""Can the buffers of a network wait for each other in a cycle? (docs/topology.md)

fabric: switches, cables, hosts, PFC. routing: which way to each host. dependencies: what waits for
what, and cycles. failures, convergence: the same when cables or switches fail, and while routes
change. remedies: what breaks a cycle. answers: all of it for one network. of_testbed, of_case:
fabrics from files. loads, proving: a cycle made to lock, a remedy seen to hold, in the packet
network. printing, drawing, cli: for people.
"""
