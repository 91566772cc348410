"""What one run tells of itself: arrays in, numbers out.

Intervals which respect that neighbouring seconds resemble each other, the end of the warm-up, and
latency histograms.  Nothing here knows of tables or files of a run.
"""
