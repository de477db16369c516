"""Certificates: may B replace A? Issued with the evidence beside them, checked by anyone."""
