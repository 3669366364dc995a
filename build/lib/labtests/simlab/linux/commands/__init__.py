"""The tools of an emulated host. Each module has `TOOLS`: names to what they do."""
