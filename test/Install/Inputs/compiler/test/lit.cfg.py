# lit --param build=FOLDER --param tools=FOLDER:FOLDER ...
import os

import lit.formats

config.name = "Mini"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(lit_config.params["build"], "test")
config.environment["PATH"] = os.pathsep.join(
    [lit_config.params["build"], lit_config.params["tools"], os.environ["PATH"]]
)
config.substitutions.append(("%plugin", os.path.join(lit_config.params["build"], "libMiniPlugin.so")))
