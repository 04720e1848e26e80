"""What commands are made of: who computes, two language models, and tables; none of them is a command."""
