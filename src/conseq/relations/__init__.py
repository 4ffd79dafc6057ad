"""Entities and relations decided together, and shown."""
