"""What every answer is made of: numbers in words, tables, figures, and the record itself."""
