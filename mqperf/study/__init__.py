"""What reads: tables, series, statistics, doubts, published reports."""
