"""The Python package writes files whole or not at all, as the tools do."""

# REQUIRES: package
# RUN: rm -rf %t && mkdir %t && %package_python %s %t

import os
import resource
import stat
import sys
import unittest

from braid._files import write_whole
from braid.schedule.render import give


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.join(sys.argv[1], self.id().rsplit(".", 1)[1])
        os.mkdir(self.folder)

    def at(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.at(name), encoding="utf-8") as file:
            return file.read()

    def test_writes_new_and_older_files(self):
        before = os.umask(0o027)
        give("é", self.at("a"))
        os.umask(before)
        self.assertEqual(self.read("a"), "é")
        self.assertEqual(stat.S_IMODE(os.stat(self.at("a")).st_mode), 0o640)
        os.chmod(self.at("a"), 0o604)
        give("newer", self.at("a"))
        self.assertEqual(self.read("a"), "newer")
        self.assertEqual(stat.S_IMODE(os.stat(self.at("a")).st_mode), 0o604)
        self.assertEqual(os.listdir(self.folder), ["a"])

    def test_links_stay(self):
        os.symlink("target", self.at("link"))
        for text in ("new", "newer"):
            write_whole(self.at("link"), text)
            self.assertEqual(self.read("target"), text)
        self.assertTrue(os.path.islink(self.at("link")))

    def test_devices_and_open_files_are_written_in_place(self):
        write_whole("/dev/null", "text")
        reader, writer = os.pipe()
        write_whole(f"/dev/fd/{writer}", "text")
        self.assertEqual(os.read(reader, 100), b"text")

    def test_errors_keep_the_older_file_and_name_it(self):
        write_whole(self.at("a"), "older")
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
        try:
            for name in ("a", "b"):
                with self.assertRaisesRegex(OSError, f"File too large: '.*/{name}'"):
                    write_whole(self.at(name), "x" * 1000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        self.assertEqual(self.read("a"), "older")
        self.assertEqual(os.listdir(self.folder), ["a"])
        with self.assertRaisesRegex(FileNotFoundError, "none/a"):
            write_whole(self.at("none/a"), "text")
        with self.assertRaisesRegex(OSError, "No space left on device"):
            write_whole("/dev/full", "text")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
