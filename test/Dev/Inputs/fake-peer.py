"""A peer that takes too long."""

import time

time.sleep(60)
