# REQUIRES: mpi
# RUN: rm -rf %t
# RUN: %python %S/faults.py %t late_rank stopped_rank
"""Ranks that stay away or stop: see faults.py."""
