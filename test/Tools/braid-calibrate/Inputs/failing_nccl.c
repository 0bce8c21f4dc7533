/* The fake NCCL, whose third all-gather fails. */
extern void fake_nccl_fail(const char *function, int result, int skipped);

__attribute__((constructor)) static void setUp(void) {
  const int unhandledCudaError = 1, skipped = 2;
  fake_nccl_fail("ncclAllGather", unhandledCudaError, skipped);
}
