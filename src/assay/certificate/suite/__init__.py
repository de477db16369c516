"""Gates over several tasks: one certificate with a row for each task, each group of tasks and the total."""
