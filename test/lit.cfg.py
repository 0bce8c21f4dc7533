# Regression tests: .mlir files with RUN lines, and Python scripts of their own.
import os
import subprocess
import sys

import lit.util

sys.path.insert(0, os.path.join(config.braid_source_dir, "test", "Inputs"))
import processor_time

config.name = "Braid"
config.test_format = processor_time.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".py"]
config.excludes = ["Inputs", "Benchmark", "lit.cfg.py", "lit.local.cfg", "CMakeLists.txt"]
config.test_source_root = os.path.join(config.braid_source_dir, "test")
config.test_exec_root = os.path.join(config.braid_binary_dir, "test")

tools = os.path.join(config.braid_binary_dir, "bin")
config.environment["PATH"] = os.pathsep.join(
    [tools, config.llvm_tools_dir, config.environment.get("PATH", "")]
)
# One BLAS thread for a rank: ranks are threads already.
config.environment["OPENBLAS_NUM_THREADS"] = "1"
config.environment["BRAID_TUNING_CACHE"] = ""
# Inductor compiles kernels in the process itself, not in others that import PyTorch again, and without a look at
# the processor's vectors, whose three programs take 20 s.
config.environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
config.environment["TORCHINDUCTOR_VEC_ISA_OK"] = "0"
gxx = lit.util.which("g++", config.environment["PATH"])
if gxx:
    config.environment["BRAID_TEST_GXX"] = gxx
    config.environment["CXX"] = os.path.join(config.test_source_root, "Inputs", "compiler", "g++")
# What Python tests share.
config.environment["PYTHONPATH"] = os.pathsep.join(
    [os.path.join(config.test_source_root, "Inputs"), os.path.join(config.braid_source_dir, "python")]
)
# Bytecode of the packages, which are installed without it, and of the sources: what is used is compiled once.
config.environment["PYTHONPYCACHEPREFIX"] = os.path.join(config.braid_binary_dir, "pycache")
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --allow-unused-prefixes=false"

config.substitutions.append(("%python", config.python))
config.substitutions.append(("%cxx", config.cxx))
config.substitutions.append(("%cc", config.cc))
config.substitutions.append(("%braid_lib_dir", os.path.join(config.braid_binary_dir, "lib")))
config.substitutions.append(("%braid_include_dir", os.path.join(config.braid_source_dir, "include")))
config.substitutions.append(("%cmake", config.cmake))
config.substitutions.append(("%lit", config.lit))
config.substitutions.append(("%braid_bin_root", config.braid_binary_dir))
config.substitutions.append(("%braid_src_root", config.braid_source_dir))

# BRAID_OPT_CHECK_IR_ROUNDTRIP=1 makes every run of braid-opt check that its
# output parses back to the same module.
if os.environ.get("BRAID_OPT_CHECK_IR_ROUNDTRIP"):
    config.substitutions.append((r"\bbraid-opt\b", "braid-opt --verify-roundtrip"))

# A test that hangs has failed (lit needs psutil to end its processes).
if lit_config.maxIndividualTestTimeIsSupported[0]:
    lit_config.maxIndividualTestTime = 300

if lit.util.which("chromium", config.environment["PATH"]):
    config.available_features.add("chromium")
# The Python with JAX that tools/dev/jax.sh makes.
jax_python = os.path.join(config.braid_binary_dir, "jax", "bin", "python")
config.substitutions.append(("%jax_python", jax_python))
if os.path.exists(os.path.join(config.braid_binary_dir, "jax", ".installed")):
    config.available_features.add("jax")
if os.path.exists(os.path.join(config.braid_binary_dir, "lib", "libbraid_jax.so")):
    config.available_features.add("jax-calls")
# The oldest JAX that braid.jax takes, in front of the packages of the other one.
jax_oldest = os.path.join(config.braid_binary_dir, "jax", "oldest")
config.substitutions.append(
    ("%oldest_jax_python", f"env PYTHONPATH={jax_oldest}{os.pathsep}{config.environment['PYTHONPATH']} {jax_python}"))
if os.path.exists(os.path.join(jax_oldest, ".installed")):
    config.available_features.add("oldest-jax")
# The newest JAX, which needs a newer Python than the one of Debian.
jax_newest = os.path.join(config.braid_binary_dir, "jax-newest")
config.substitutions.append(("%newest_jax_python", os.path.join(jax_newest, "bin", "python")))
if os.path.exists(os.path.join(jax_newest, ".installed")):
    config.available_features.add("newest-jax")
# The Python with OR-Tools that tools/dev/ortools.sh makes for those who ask for it.
ortools_python = os.path.join(config.braid_binary_dir, "ortools", "bin", "python")
library = os.path.join(config.braid_binary_dir, "lib", "libbraid-schedule-c.so")
config.substitutions.append(("%ortools_python", f"env BRAID_SCHEDULE_LIBRARY={library} {ortools_python}"))
if os.path.exists(os.path.join(config.braid_binary_dir, "ortools", ".installed")):
    config.available_features.add("ortools")
if lit.util.which("mlir-opt", config.environment["PATH"]):
    config.available_features.add("mlir-opt")
if "NVPTX" in config.llvm_targets:
    config.available_features.add("nvptx")
# What CUDA's toolkit has: functions for kernels, and the assembler.
cuda = next((os.environ[name] for name in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH") if name in os.environ), "/usr/local/cuda")
config.substitutions.append(("%cuda", cuda))
for name in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
if os.path.exists(os.path.join(cuda, "nvvm", "libdevice", "libdevice.10.bc")):
    config.available_features.add("libdevice")
if os.path.exists(os.path.join(cuda, "bin", "ptxas")):
    config.available_features.add("ptxas")
# Ranks as processes: more of them than cores, and as root in a container.
engine = os.path.join(config.braid_binary_dir, "lib", "libbraid_rt_mpi.so")
mpirun = lit.util.which("mpirun", config.environment["PATH"])
if mpirun and os.path.exists(engine):
    config.available_features.add("mpi")
    config.environment["BRAID_TEST_MPIRUN"] = mpirun
    launcher = os.path.join(config.test_source_root, "Inputs", "launcher")
    config.environment["PATH"] = os.pathsep.join([launcher, config.environment["PATH"]])
    for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                 "OMPI_MCA_rmaps_base_oversubscribe"]:
        config.environment[name] = "1"
    # Ranks that yield in a loop have been seen to wait for seconds.
    config.environment["OMPI_MCA_mpi_yield_when_idle"] = "0"
    # One test of several processes at a time.
    lit_config.parallelism_groups["mpi"] = 1
    # Tools/braid-run/Inputs/slurm.sh starts a Slurm of its own.
    slurm = ["srun", "slurmctld", "slurmd", "munged"]
    path = config.environment["PATH"] + os.pathsep + "/usr/sbin"
    if os.geteuid() == 0 and all(lit.util.which(name, path) for name in slurm):
        config.available_features.add("slurm")
    # Integration/MPI/nodes.sh makes two nodes of one machine, where that is permitted.
    nodes = os.path.join(config.test_source_root, "Integration", "MPI", "nodes.sh")
    if subprocess.run([nodes, "true"], capture_output=True).returncode == 0:
        config.available_features.add("nodes")

# The Python package, installed from its wheel (tools/dev/wheel.sh --test), and
# `python` for its page.
package = os.path.join(config.braid_binary_dir, "python")
environment = os.path.join(package, "environment")
# Without the package's sources on the path.
config.substitutions.append(
    ("%package_python",
     f"env PYTHONPATH={os.path.join(config.test_source_root, 'Inputs')} {os.path.join(environment, 'bin', 'python')}"))
if os.path.exists(environment):
    config.available_features.add("package")
    config.environment["PATH"] = os.path.join(package, "bin") + os.pathsep + config.environment["PATH"]
if os.path.exists(os.path.join(package, "torch", "torch")):
    config.available_features.add("torch")
# Real models, which tools/dev/wheel.sh --test installs beside PyTorch.
if os.path.exists(os.path.join(package, "torch", "transformers")):
    config.available_features.add("transformers")
