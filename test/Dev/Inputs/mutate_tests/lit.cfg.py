# A suite of one strong and one weak test.
import lit.formats

config.name = "Sample"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
