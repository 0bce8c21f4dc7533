"""The CUDA driver and cuBLASLt called directly, through ctypes: memory, events and matmuls of row-major matrices of bf16 or f32."""
import ctypes as c
import os

TYPES, R_32F, COMPUTE_32F = {"bf16": 14, "f32": 0}, 0, 68
TRANSA, TRANSB, EPILOGUE = 3, 4, 7  # attributes of a matmul
BATCH_COUNT, BATCH_OFFSET = 5, 6  # attributes of a layout
MAX_WORKSPACE = 1  # attribute of a preference
EPILOGUE_RELU = 2
WORKSPACE_BYTES = 64 << 20
NON_BLOCKING = 1


class Algorithm(c.Structure):
    _fields_ = [("data", c.c_uint64 * 8)]


class Heuristic(c.Structure):
    _fields_ = [("algorithm", Algorithm), ("workspace", c.c_size_t), ("state", c.c_int), ("waves", c.c_float),
                ("reserved", c.c_int * 4)]


class Library:
    """A library whose functions return 0."""

    def __init__(self, path):
        self.library = c.CDLL(path)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} gives the status {status}")


class Driver(Library):
    """The driver, with the primary context of GPU 0 and a stream of its own."""

    def __init__(self):
        super().__init__(os.environ.get("BRAID_CUDA_LIBRARY") or "libcuda.so.1")
        self.call("cuInit", 0)
        device, self.context, self.stream = c.c_int(), c.c_void_p(), c.c_void_p()
        self.call("cuDeviceGet", c.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", c.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)
        self.call("cuStreamCreateWithPriority", c.byref(self.stream), NON_BLOCKING, 0)
        self.events = [c.c_void_p() for _ in range(2)]
        for event in self.events:
            self.call("cuEventCreate", c.byref(event), 0)

    def make_current(self):
        """For each call, because a world that ends leaves its thread without a context."""
        self.call("cuCtxSetCurrent", self.context)

    def allocate(self, size):
        self.make_current()
        pointer = c.c_uint64()
        self.call("cuMemAlloc_v2", c.byref(pointer), c.c_size_t(size))
        return pointer.value

    def free(self, pointer):
        self.make_current()
        self.call("cuMemFree_v2", c.c_uint64(pointer))

    def upload(self, pointer, array):
        self.make_current()
        self.call("cuMemcpyHtoDAsync_v2", c.c_uint64(pointer), c.c_void_p(array.ctypes.data), c.c_size_t(array.nbytes), self.stream)
        self.call("cuStreamSynchronize", self.stream)

    def download(self, pointer, array):
        self.make_current()
        self.call("cuMemcpyDtoHAsync_v2", c.c_void_p(array.ctypes.data), c.c_uint64(pointer), c.c_size_t(array.nbytes), self.stream)
        self.call("cuStreamSynchronize", self.stream)

    def milliseconds(self, function):
        """The time on the device of what `function` puts on the stream."""
        self.make_current()
        self.call("cuEventRecord", self.events[0], self.stream)
        function()
        self.call("cuEventRecord", self.events[1], self.stream)
        self.call("cuEventSynchronize", self.events[1])
        elapsed = c.c_float()
        self.call("cuEventElapsedTime_v2", c.byref(elapsed), *self.events)
        return elapsed.value


class Blas(Library):
    def __init__(self, driver):
        super().__init__(os.environ.get("BRAID_CUBLASLT_LIBRARY") or "libcublasLt.so.13")
        self.driver = driver
        self.handle = c.c_void_p()
        self.call("cublasLtCreate", c.byref(self.handle))
        self.workspace = driver.allocate(WORKSPACE_BYTES)


class Matmul:
    """result[m,n] = A[m,k] B[k,n], or with a transposition the operand as [k,m] or [n,k], `batch` times; with `relu`.

    cuBLASLt is column-major: it computes the transposed result of the exchanged operands."""

    def __init__(self, blas, dtype, m, n, k, transpose_a=False, transpose_b=False, batch=1, relu=False):
        self.blas, self.type = blas, TYPES[dtype]
        self.operation, self.one, self.zero = c.c_void_p(), c.c_float(1), c.c_float(0)
        blas.call("cublasLtMatmulDescCreate", c.byref(self.operation), COMPUTE_32F, R_32F)
        self.set("cublasLtMatmulDescSetAttribute", self.operation, TRANSA, c.c_int32(int(transpose_b)))
        self.set("cublasLtMatmulDescSetAttribute", self.operation, TRANSB, c.c_int32(int(transpose_a)))
        if relu:
            self.set("cublasLtMatmulDescSetAttribute", self.operation, EPILOGUE, c.c_uint32(EPILOGUE_RELU))
        self.first = self.layout(*((k, n) if transpose_b else (n, k)), batch)
        self.second = self.layout(*((m, k) if transpose_a else (k, m)), batch)
        self.result = self.layout(n, m, batch)

    def set(self, function, target, attribute, value):
        self.blas.call(function, target, attribute, c.byref(value), c.c_size_t(c.sizeof(value)))

    def layout(self, rows, columns, batch):
        layout = c.c_void_p()
        self.blas.call("cublasLtMatrixLayoutCreate", c.byref(layout), self.type, c.c_uint64(rows), c.c_uint64(columns), c.c_int64(rows))
        if batch > 1:
            self.set("cublasLtMatrixLayoutSetAttribute", layout, BATCH_COUNT, c.c_int32(batch))
            self.set("cublasLtMatrixLayoutSetAttribute", layout, BATCH_OFFSET, c.c_int64(rows * columns))
        return layout

    def algorithms(self, count):
        """What the heuristic proposes, best first."""
        preference, found = c.c_void_p(), c.c_int()
        self.blas.call("cublasLtMatmulPreferenceCreate", c.byref(preference))
        self.set("cublasLtMatmulPreferenceSetAttribute", preference, MAX_WORKSPACE, c.c_uint64(WORKSPACE_BYTES))
        results = (Heuristic * count)()
        self.blas.call("cublasLtMatmulAlgoGetHeuristic", self.blas.handle, self.operation, self.first, self.second, self.result,
                       self.result, preference, count, results, c.byref(found))
        self.blas.call("cublasLtMatmulPreferenceDestroy", preference)
        return [r.algorithm for r in results[: found.value] if r.state == 0]

    def launch(self, a, b, result, algorithm):
        self.blas.call("cublasLtMatmul", self.blas.handle, self.operation, c.byref(self.one), c.c_void_p(b), self.first, c.c_void_p(a),
                       self.second, c.byref(self.zero), c.c_void_p(result), self.result, c.c_void_p(result), self.result,
                       c.byref(algorithm), c.c_void_p(self.blas.workspace), c.c_size_t(WORKSPACE_BYTES), self.blas.driver.stream)

    def destroy(self):
        for layout in (self.first, self.second, self.result):
            self.blas.call("cublasLtMatrixLayoutDestroy", layout)
        self.blas.call("cublasLtMatmulDescDestroy", self.operation)
