"""The verifier: judges a release from what was written, with code of its own."""
