"""Black-box audits: mechanisms are run on neighbouring inputs; some runs choose events, fresh ones confirm them."""
