"""Run anybody's callable as a mechanism: with the generator that it asks for, in any process, at fixed addresses.

In the order in which a run passes through them:

* `adapters` makes a `Mechanism` of a learner, a function or a measurement; `passing`, `calling` and `signatures` find
  out which of its parameters gets the data, the generator and the number of runs, and which kind of generator it takes;
* `sampling` cuts the runs of an audit into jobs whose streams are addresses; `workers` spreads these over processes,
  `cluster` and `worker_code` over a dask cluster;
* `isolated` makes runs in a `child`, which `serving` is the other side of; both speak the `protocol`, and what travels
  is made by `transport`; `processes` asks the system for limits and an end together with the parent;
* `one_by_one` makes runs that take a call each, and `watched` notes what they do with their generator;
* `failed_runs`, `warning_counts` and `fingerprints` are what else comes back: the input of a run that failed, the
  warnings, and what shows that two workers repeat each other.
"""
