"""Every prompt, one file each, rendered with Jinja2 and versioned by content hash."""
