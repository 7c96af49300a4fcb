"""Private mechanisms that learners call."""
