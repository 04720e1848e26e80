"""The implementation under audit: how it is called, with what arrays and what noise."""
