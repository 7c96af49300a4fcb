"""Sample and aggregate: halfspaces of subsamples, and the release of one that many of them agree with."""
