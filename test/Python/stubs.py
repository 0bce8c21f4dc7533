"""The stubs of the package say what the package has: names, parameters, kinds of parameters."""

# REQUIRES: package
# RUN: %package_python %s

import ast
import importlib
import importlib.util
import inspect
import os
import unittest


def get_parameters(node):
    """Names of parameters by kind, of a function in a stub."""
    arguments = node.args
    return {
        "positional": [argument.arg for argument in arguments.posonlyargs + arguments.args if argument.arg != "cls"],
        "keyword": [argument.arg for argument in arguments.kwonlyargs],
    }


def get_real_parameters(function):
    kinds = {"positional": [], "keyword": []}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            kinds["positional"].append(parameter.name)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            kinds["keyword"].append(parameter.name)
    return kinds


class Checks:
    """What compares a stub with its module."""

    def check(self, name, ignored=()):
        module = importlib.import_module(name)
        with open(os.path.join(os.path.dirname(module.__file__), "__init__.pyi"), encoding="utf-8") as file:
            stub = ast.parse(file.read())
        declared = set()
        for node in stub.body:
            if isinstance(node, ast.FunctionDef):
                declared.add(node.name)
                self.assertEqual(get_parameters(node), get_real_parameters(getattr(module, node.name)), node.name)
            elif isinstance(node, ast.ClassDef):
                declared.add(node.name)
                self.check_class(getattr(module, node.name), node, ignored)
            elif isinstance(node, ast.AnnAssign):
                declared.add(node.target.id)
            elif isinstance(node, ast.ImportFrom):
                # `from m import a as a` gives a name on.
                declared.update(alias.asname for alias in node.names if alias.asname)
        self.assertEqual(declared, set(module.__all__))

    def check_class(self, cls, stub, ignored):
        for node in stub.body:
            if not isinstance(node, ast.FunctionDef) or node.name in ignored:
                continue
            where = f"{stub.name}.{node.name}"
            self.assertTrue(hasattr(cls, node.name), where)
            if any(isinstance(decorator, ast.Name) and decorator.id == "property" for decorator in node.decorator_list):
                self.assertFalse(callable(inspect.getattr_static(cls, node.name)), where)
                continue
            self.assertEqual(get_parameters(node), get_real_parameters(getattr(cls, node.name)), where)


class Stubs(Checks, unittest.TestCase):
    def test_schedule(self):
        self.check("braid.schedule")

    def check_pass(self, name):
        """The options stand in a table."""
        self.check(name, ignored=["with_options"])
        cls = importlib.import_module(name).Overlap
        folder = os.path.dirname(inspect.getsourcefile(cls))
        with open(os.path.join(folder, "__init__.pyi"), encoding="utf-8") as file:
            stub = next(node for node in ast.parse(file.read()).body if getattr(node, "name", "") == "Overlap")
        method = next(node for node in stub.body if getattr(node, "name", "") == "with_options")
        self.assertEqual(get_parameters(method)["keyword"], list(cls.DEFAULTS))
        return cls

    def test_inductor(self):
        cls = self.check_pass("braid.inductor")
        for name in cls.DEFAULTS:
            self.assertIn(f"\n        {name} : ", cls.with_options.__doc__ + "\n")

    @unittest.skipUnless(importlib.util.find_spec("torch"), "the pass is one of PyTorch's classes")
    def test_fx(self):
        self.check_pass("braid.fx")

    @unittest.skipUnless(importlib.util.find_spec("torch"), "the adapters are for trainers of PyTorch")
    def test_trainers(self):
        self.check("braid.torchtitan")
        self.check("braid.deepspeed")


if __name__ == "__main__":
    unittest.main()
