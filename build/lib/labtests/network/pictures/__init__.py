"""Pictures for the documents: the known ills of lossless Ethernet, their cures, and closed forms.

cases/: the case files they are made from. picture: what a picture is. sharing, mixing, losing,
queueing: the pictures. gallery: all of them by name, written into a folder.
Each picture compares what it shows with its closed form (`labtests network figures` prints that).
"""
