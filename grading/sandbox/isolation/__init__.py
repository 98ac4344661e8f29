"""What keeps a submission apart from the machine: sandbox backends, namespaces, control groups, limits."""
