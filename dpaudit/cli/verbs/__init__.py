"""The verbs, a module each: options and help, without what they do."""
