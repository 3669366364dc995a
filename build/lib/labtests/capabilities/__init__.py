"""What a device can be asked and told: abilities as protocols, and the records they speak in."""
