"""`conseq relations`: entities and the relations between them; a command each in a module of its own."""
