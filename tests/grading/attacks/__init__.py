"""Submissions that try to gain points, read secrets, do damage or tamper; and honest unusual ones."""
