"""From outputs to a finite, ordered set of events."""
