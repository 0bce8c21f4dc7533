"""What writes a part of the documentation compares it with the files first; with --update it writes them."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read(path):
    """The text of a file of the project; empty if there is no such file."""
    try:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def update(files, write, wrong):
    """Compares `files`, pairs of a path and its text as it has to be, with those of the project.

    With `write` a file that differs is written, otherwise `wrong` says what is wrong with it.
    The result is an exit status.
    """
    status = 0
    for path, text in files:
        if read(path) == text:
            continue
        if write:
            with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
                file.write(text)
            print(f"wrote {path}")
        else:
            print(f"{path} {wrong}")
            status = 1
    return status


def is_asked():
    """Whether the command line asks for writing."""
    return sys.argv[1:] == ["--update"]
