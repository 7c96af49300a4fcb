"""What the parity learners share: linear algebra over GF(2), subsamples and exact laws."""
