"""The online learner: cost functions, csoaa learners and their settings (sections 3.4 and 4)."""
