"""NVIDIA's libraries in the packages of this Python, for scripts on machines with GPUs.

The scripts that use this module take a copy of it along.
"""

import glob
import os

PATTERNS = {
    "BRAID_NCCL_LIBRARY": "libnccl.so.*",
    "BRAID_CUBLASLT_LIBRARY": "libcublasLt.so.*",
    "BRAID_CUDNN_LIBRARY": "libcudnn.so.*",
    "BRAID_CUFFT_LIBRARY": "libcufft.so.*",
    "BRAID_CUSOLVER_LIBRARY": "libcusolver.so.*",
    "BRAID_CUPTI_LIBRARY": "libcupti.so.*",
}


def find_libraries():
    """The paths of the libraries by Braid's variables, of the newest version each. Variables
    that the environment has are left out, as are libraries that are not there."""
    try:
        import nvidia  # pylint: disable=import-error,import-outside-toplevel
    except ImportError:
        return {}
    found = {}
    for variable, pattern in PATTERNS.items():
        files = [
            file
            for folder in nvidia.__path__
            for file in glob.glob(os.path.join(folder, "**", pattern), recursive=True)
        ]
        if files and variable not in os.environ:
            found[variable] = max(files, key=os.path.basename)
    return found
