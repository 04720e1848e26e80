"""What an audit spends its time on: draws of each kind, in rounds, and checks beside them."""
