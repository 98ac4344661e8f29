"""Named submissions that try to get points, learn something, do damage or tamper; and honest odd ones."""
