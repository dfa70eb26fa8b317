"""One package a lesson: a demo to run, exercises to do, solutions to compare with."""
