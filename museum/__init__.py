"""Real defects of differential-privacy libraries as small files of data, and what audits of them found."""
