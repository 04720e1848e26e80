"""Known faults, as exact laws, and which of them explains what was observed."""
