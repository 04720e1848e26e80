"""The commands of `resispec`, one a file, and how they show what they found."""
