"""Bounds that were proved after the sources of the ledger, by name and number; no row checks them."""

THRESHOLDS = (
    "thresholds: O~(log*|X|) examples (Cohen, Lyu, Nelson, Sarlós, Stemmer 2023, arXiv 2211.06387), where "
    "Omega(log*|X|) are needed"
)
QUASI_CONCAVE = "Θ~(2^(log*|X|)) for quasi-concave functions in general (the same, arXiv 2211.06387)"
HALFSPACES = (
    "about d^2.5 2^(log*|X|) (Kaplan, Mansour, Stemmer, Tsfadia 2020, arXiv 2004.07839), and O~(d^5.5 log*|X|) (2025, "
    "arXiv 2504.19001); neither is below the other"
)
CENTER_POINTS = "O~(d^5.5 log*|X|) (2025, arXiv 2504.19001)"
FINITE_CLASSES = (
    "with delta > 0, of Littlestone dimension d: O~(d^5 log(1/(delta beta))/(epsilon alpha)) (Lyu 2025, arXiv "
    "2510.00076); of VC dimension 1: O~(log* d) (Yan 2025, arXiv 2505.06581)"
)
