/* The runtime, from C. */
#include "braid-c/Version.h"
#include "braid-rt/braid-rt.h"

#include <stdio.h>
#include <string.h>

int main(void) {
  printf("headers and runtime of one version: %d\n",
         strcmp(BRAID_VERSION_STRING, braid_rt_version()) == 0);
  return 0;
}
