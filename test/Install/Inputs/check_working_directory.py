"""check_working_directory.py LIBRARY FOLDER ROOT...: puts a library into a folder under each
name that the tools of the roots may load, and starts the tools there. The library reports
itself when it is loaded."""

import os
import re
import subprocess
import sys

TOOLS = ("braid-opt", "braid-compile", "braid-run", "braid-calibrate", "braid-lsp-server")
# What the engines load by name.
LOADED = {"libcuda.so.1", "libnccl.so.2", "libcupti.so.13", "libcublasLt.so.13", "libcublasLt.so",
          "libbraid_rt_cuda.so", "libbraid_rt_mpi.so"}


def needed(file):
    text = subprocess.run(["readelf", "-d", file], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))


def main():
    library, folder, *roots = sys.argv[1:]
    names = set(LOADED)
    tools = [os.path.join(root, "bin", tool) for root in roots for tool in TOOLS]
    for root in roots:
        for place in ("bin", "lib"):
            for name in os.listdir(os.path.join(root, place)):
                if name.endswith(".so") or name in TOOLS:
                    names |= needed(os.path.join(root, place, name))
    for name in names:
        path = os.path.join(folder, name)
        if not os.path.lexists(path):
            os.symlink(os.path.relpath(library, folder), path)
    environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    for tool in tools:
        done = subprocess.run([tool, "--version"], cwd=folder, env=environment, capture_output=True, text=True)
        sys.stderr.write(done.stderr)
        if done.returncode:
            sys.exit(f"{tool} --version: status {done.returncode}")
        # The engine cuda loads its libraries, or says which one it does not find.
        if tool.endswith("braid-run"):
            for engine in ("cuda", "mpi"):
                done = subprocess.run([tool, "missing.so", f"--engine={engine}"], cwd=folder, env=environment,
                                      capture_output=True, text=True)
                sys.stderr.write(done.stderr)
    print(f"{len(names)} names, {len(tools)} tools")


main()
