"""What commands show: tables, progress, numbers and pictures."""
