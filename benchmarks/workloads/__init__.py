"""What single experiments measure where it takes code of its own: trainings, functions, reference implementations."""
