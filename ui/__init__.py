"""What people touch: the command line, the web page, and the wiring of encounters with scores."""
