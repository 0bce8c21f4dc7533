# REQUIRES: mpi
# RUN: rm -rf %t
# RUN: %python %S/faults.py %t other_program out_of_memory
"""Ranks that run another program or have no memory: see faults.py."""
