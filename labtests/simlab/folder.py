"""What a served lab puts into its folder, by name, and the address it is served at. Whoever runs a
lab in another process needs no more of it."""

LOOPBACK = "127.0.0.1"
USER_KEY, KNOWN_HOSTS = "id_ed25519", "known_hosts"
CA, CERTIFICATE, KEY = "telemetry-ca.pem", "telemetry-client.pem", "telemetry-client.key"
"""For collectors of what the lab streams (streaming/certificates.py)."""
PASSWORD_ENV = "LABTESTS_SIMLAB_PASSWORD"
"""Where a collector finds the lab's password, unless whoever serves it names another place."""
