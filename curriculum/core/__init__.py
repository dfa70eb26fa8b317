"""The provider-neutral harness: standard library only, and it imports nothing else of ours."""
