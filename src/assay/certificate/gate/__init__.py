"""Gates that stop when the answer is clear: a plan, looks at the windows scored so far, and one certificate."""
