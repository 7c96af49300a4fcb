"""Plan, run, store: audits in parallel, with results that survive a kill."""
