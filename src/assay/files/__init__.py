"""Files: opened with care, written whole or not at all, and only where they may go."""
