"""What an audit found: the record, and the record as text, page and JSON."""
