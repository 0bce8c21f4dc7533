// Prints the bytes of a size.
#include "braid-c/Version.h"
#include "braid/Support/Units.h"

#include <cstdio>

int main(int argc, char **argv) {
  std::printf("%lld bytes, by Braid %s\n",
              (long long)braid::parseBytes(argv[1]).value_or(-1),
              BRAID_VERSION_STRING);
}
