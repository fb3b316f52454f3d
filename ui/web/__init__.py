"""The page: one person plays a case in the browser."""
