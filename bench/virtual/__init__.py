"""Two real guests on one host: one serves requests, the other computes on what is lent to it."""
