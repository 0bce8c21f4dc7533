"""The wheel: one for all Pythons, its library alone, and what `python -m braid` says."""

# REQUIRES: package
# RUN: %package_python %s %braid_bin_root

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import braid
from braid import _native


class Package(unittest.TestCase):
    def test_one_wheel(self):
        wheels = os.listdir(os.path.join(BUILD, "wheel"))
        self.assertEqual(len(wheels), 1)
        self.assertRegex(wheels[0], rf"^braid-{braid.__version__}-py3-none-manylinux_2_\d+_x86_64\.whl$")
        with zipfile.ZipFile(os.path.join(BUILD, "wheel", wheels[0])) as wheel:
            names = wheel.namelist()
            size = sum(entry.compress_size for entry in wheel.infolist())
        self.assertIn("braid/py.typed", names)
        # auditwheel puts libraries that the wheel needs into a folder of this name.
        self.assertFalse([name for name in names if ".libs/" in name])
        self.assertEqual([name for name in names if ".so" in name], ["braid/_lib/libbraid-schedule-c.so"])
        self.assertLess(size, 8 << 20)

    def test_every_python_in_the_path_takes_it(self):
        wheel = os.path.join(BUILD, "wheel", os.listdir(os.path.join(BUILD, "wheel"))[0])
        graphs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Schedule", "graphs.py")
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(wheel) as unpacked:
                unpacked.extractall(folder)
            for minor in range(10, 14):
                python = f"python3.{minor}"
                if not shutil.which(python) or subprocess.run([python, "-V"], capture_output=True).returncode:
                    continue
                with self.subTest(python=python):
                    result = subprocess.run(
                        [python, graphs, "Search", "Algorithms", "Machines", "Pictures", "BadInput"],
                        capture_output=True,
                        text=True,
                        env={**os.environ, "PYTHONPATH": folder},
                    )
                    self.assertEqual(result.returncode, 0, result.stderr)

    def test_versions_agree(self):
        library = _native.library()
        self.assertEqual(library.braid_schedule_version().decode(), braid.__version__)
        self.assertEqual(library.braid_schedule_api_version(), _native.API_VERSION)

    def test_main(self):
        result = subprocess.run([sys.executable, "-m", "braid"], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"braid {braid.__version__}", result.stdout)
        self.assertIn("scheduling: ", result.stdout)

    def test_importing_it_imports_neither_torch_nor_jax(self):
        code = "import braid.schedule, sys; print([m for m in ('torch', 'jax', 'numpy') if m in sys.modules])"
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(result.stdout, "[]\n", result.stderr)

    def test_a_tool_that_is_missing(self):
        # The wheel has no tools, and names no folder beside itself that could have some.
        code = "from braid.mlir import find_tool; find_tool('braid-opt')"
        environment = {**os.environ, "PATH": os.devnull}
        environment.pop("BRAID_ROOT", None)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(os.path.dirname(braid.__file__), os.path.join(folder, "braid"))
            result = subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                text=True,
                env={**environment, "PYTHONPATH": folder},
            )
        self.assertIn(
            "NotFoundError: braid-opt was not found on the PATH, and the wheel has no tools; install Braid, or set "
            "BRAID_ROOT to the folder of an installed or built Braid, with bin and lib in it",
            result.stderr,
        )
        self.assertNotIn("build/bin", result.stderr)

    def test_a_checkout_has_no_library(self):
        environment = {name: value for name, value in os.environ.items() if name != "BRAID_SCHEDULE_LIBRARY"}
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(os.path.dirname(braid.__file__), os.path.join(folder, "braid"), ignore=shutil.ignore_patterns("_lib"))
            result = subprocess.run(
                [sys.executable, "-m", "braid"], capture_output=True, text=True, env={**environment, "PYTHONPATH": folder}, cwd=folder
            )
        self.assertEqual(result.returncode, 1)
        self.assertRegex(
            result.stdout, r"scheduling: found no library .*, such as lib/libbraid-schedule-c\.so of a build \(ninja BraidScheduleC\)"
        )

    def test_a_library_that_is_missing_or_another_one(self):
        code = "from braid import schedule; schedule.machines()"
        for path, text in (("/no/such.so", "found no library of Braid that can be loaded"), ("libc.so.6", "found no braid_schedule_api_version")):
            result = subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                text=True,
                env={**os.environ, "BRAID_SCHEDULE_LIBRARY": path},
            )
            self.assertIn("ImportError", result.stderr)
            self.assertIn(text, result.stderr)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
