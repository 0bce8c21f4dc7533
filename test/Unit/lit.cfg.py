# Unit tests: GoogleTest programs.
import os

import lit.formats

config.name = "Braid-Unit"
config.suffixes = []
config.test_exec_root = os.path.join(config.braid_binary_dir, "test", "Unit")
config.test_source_root = config.test_exec_root
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.environment["OPENBLAS_NUM_THREADS"] = "1"
# Tests leave nothing in the folders of a user.
config.environment["BRAID_TUNING_CACHE"] = ""
