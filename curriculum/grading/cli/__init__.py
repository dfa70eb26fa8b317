"""The learner's desk: `python -m curriculum` shows what there is to do, and grades what is done."""
