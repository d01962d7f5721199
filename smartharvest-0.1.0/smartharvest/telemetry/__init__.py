"""What an agent tells of itself: its state over a socket, and who may ask."""
