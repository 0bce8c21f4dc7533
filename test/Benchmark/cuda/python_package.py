"""Copies of the Python package, for folders that go to machines with GPUs."""

import os
import shutil

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def copy_package(folder):
    """Copies the sources of the package `braid` to FOLDER/python/braid, over an older copy."""
    shutil.copytree(os.path.join(ROOT, "python", "braid"), os.path.join(folder, "python", "braid"),
                    dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
