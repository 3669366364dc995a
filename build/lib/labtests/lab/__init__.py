"""An open lab: its devices by ability, and changes that are journalled, proven and undone."""
