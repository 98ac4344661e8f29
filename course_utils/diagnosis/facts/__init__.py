"""What objects and processes tell when they are looked at: nothing here is changed or hooked."""
