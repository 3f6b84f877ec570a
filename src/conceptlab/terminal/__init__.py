"""What is printed: lists, plans, progress, comparisons."""
