"""The smallest case that shows a proved fault."""
