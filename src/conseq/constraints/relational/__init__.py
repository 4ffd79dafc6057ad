"""Rules about the entities and relations of a sentence."""
