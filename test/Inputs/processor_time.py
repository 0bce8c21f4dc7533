"""lit's format for tests with RUN lines, which also says how much processor time a test took.

The time of a test on the clock depends on what runs beside the test; the processor time much less.
"""
import os

import lit.formats
import lit.Test


class ShTest(lit.formats.ShTest):
    """Adds the metric `processor`: seconds of the processes that the test started and waited for."""

    def execute(self, test, lit_config):
        before = os.times()
        result = super().execute(test, lit_config)
        after = os.times()
        if not isinstance(result, lit.Test.Result):
            result = lit.Test.Result(*result)
        seconds = after.children_user + after.children_system - before.children_user - before.children_system
        result.addMetric("processor", lit.Test.RealMetricValue(seconds))
        return result
