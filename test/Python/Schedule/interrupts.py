"""Searches leave Python's global lock alone, say how far they are, and end on Ctrl-C."""

# REQUIRES: package
# RUN: %package_python %s

import random
import signal
import threading
import time
import unittest

from braid import schedule

# Far more than these tests wait for.
ENDLESS = 1 << 50


def make_hard(size=400):
    """Nothing is proven of this one, so that a search spends all its steps."""
    pick = random.Random(3)
    graph = schedule.Graph()
    values = []
    for number in range(size // 4):
        after = pick.sample(values, min(len(values), 2))
        work = graph.compute(f"work {number}", pick.randint(50, 900), after=after)
        start = graph.start(f"start {number}", pick.randint(50, 900), lane=f"lane {number % 3}", after=work)
        beside = graph.compute(f"beside {number}", pick.randint(50, 900), after=after)
        values += [graph.wait(f"wait {number}", start), beside]
    return graph


class Interrupts(unittest.TestCase):
    def test_other_threads_run_during_a_search(self):
        graph, done, count = make_hard(), threading.Event(), 0

        def search():
            schedule.schedule(graph, steps=60_000_000)
            done.set()

        threading.Thread(target=search).start()
        while not done.wait(0.001):
            count += 1
        # With the lock held this loop would not run at all.
        self.assertGreater(count, 5)

    def test_progress(self):
        seen = []
        found = schedule.schedule(make_hard(), steps=300_000_000, progress=seen.append)
        self.assertTrue(seen)
        for progress in seen:
            self.assertLessEqual(progress.steps, progress.max_steps)
            self.assertGreaterEqual(progress.makespan or found.makespan, found.makespan)

    def test_what_progress_raises_ends_the_search(self):
        def refuse(progress):
            raise RuntimeError("enough")

        begin = time.monotonic()
        with self.assertRaisesRegex(RuntimeError, "enough"):
            schedule.schedule(make_hard(), steps=ENDLESS, progress=refuse)
        self.assertLess(time.monotonic() - begin, 60)

    def test_control_c_ends_the_search(self):
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with self.assertRaises(KeyboardInterrupt):
            schedule.schedule(make_hard(), steps=ENDLESS)
        # Its thread ends as well.
        limit = time.monotonic() + 60
        while any(thread.name == "braid-search" for thread in threading.enumerate()):
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.05)

    def test_searches_beside_each_other(self):
        graph = make_hard(100)
        expected = schedule.schedule(graph, steps=100_000).order
        orders = []
        threads = [
            threading.Thread(target=lambda: orders.append(schedule.schedule(graph, steps=100_000).order))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(orders, [expected] * 4)


if __name__ == "__main__":
    unittest.main()
