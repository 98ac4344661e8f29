"""The sandbox that runs submissions: its backends, the fork server inside, the client outside."""
