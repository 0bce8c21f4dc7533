#!/usr/bin/env python3
"""Checks that the names in Python sources exist: python_names.py [FILE...]; exit status 1 if one does not.

A name that no module, function or builtin defines is an error only when the line runs, which may be the line that
reports another error. The script also finds imports that a source does not use; one that is there for its effects,
or for others, says so by `# noqa`. Configurations of lit have names that lit gives them.
"""
import argparse
import ast
import builtins
import os
import subprocess
import sys
import symtable

KNOWN = {*dir(builtins), "__file__", "__path__", "__annotations__"}
OF_LIT = {"config", "lit_config"}


def walk(table):
    yield table
    for child in table.get_children():
        yield from walk(child)


def find_undefined(text, path):
    """Pairs of a line and a name that nothing defines."""
    top = symtable.symtable(text, path, "exec")
    known = KNOWN | (OF_LIT if os.path.basename(path) == "lit.cfg.py" else set())
    for table in walk(top):
        for symbol in table.get_symbols():
            is_of_module = table is top or symbol.is_declared_global()
            if is_of_module and (symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()):
                known.add(symbol.get_name())
    wanted = {symbol.get_name() for table in walk(top) for symbol in table.get_symbols()
              if symbol.is_referenced() and (table is top or symbol.is_global())} - known
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in wanted:
            yield node.lineno, node.id


def find_unused(text):
    """Pairs of a line and a name that the source imports and does not use."""
    tree, lines = ast.parse(text), text.split("\n")
    words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    words |= {word for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
              for word in [node.value, node.value.split(".")[0]]}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and "noqa" not in lines[node.end_lineno - 1]:
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                if name not in words and name != "*" and getattr(node, "module", "") != "__future__":
                    yield node.lineno, name


def check(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for line, name in sorted(set(find_undefined(text, path))) if "import *" not in text else ():
        yield f"{path}:{line}: found the name {name}, which nothing defines"
    for line, name in find_unused(text) if os.path.basename(path) != "__init__.py" else ():
        yield f"{path}:{line}: found an import of {name}, which nothing uses"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("files", nargs="*", help="all of the repository by default")
    files = parser.parse_args().files
    if not files:
        os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
        listed = subprocess.run(["git", "ls-files", "*.py"], stdout=subprocess.PIPE, text=True, check=True).stdout
        files = [path for path in listed.splitlines() if os.path.exists(path)]
    findings = [finding for path in files for finding in check(path)]
    print(*findings, sep="\n", end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
