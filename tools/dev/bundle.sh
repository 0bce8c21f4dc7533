#!/usr/bin/env bash
# Makes a folder, or with a name that ends in .tar.gz an archive of it, that runs
# compiled programs on machines with a driver, NCCL and cuBLASLt, but no LLVM.
#
#   bundle.sh OUTPUT PROGRAM...    programs: shared objects of braid-compile
#
# BRAID_NO_BUILD=1 takes what the build folder has.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# -ge 1 ] || fail "bundle.sh: expected where to write the bundle, and compiled programs"
output=$1
shift
for program in "$@"; do
  case $program in
  *.so) [ -r "$program" ] || fail "cannot read $program" ;;
  *) fail "$program is no compiled program (.so): a bundle has no compiler" \
    "braid-compile $program --target=cuda --chip=sm_90 -o PROGRAM.so compiles it" ;;
  esac
done
[ ! -e "$output" ] && [ ! -e "${output%.tar.gz}" ] || fail "$output is there already"

[ -n "${BRAID_NO_BUILD:-}" ] || BRAID_SETUP_SETS=build "$ROOT/tools/dev/build.sh" braid-bundle
# The bundle appears when it is whole.
mkdir -p "$(dirname "$output")"
work=$(mktemp -d "$(dirname "$output")/.braid-bundle-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
folder=$work/$(basename "${output%.tar.gz}")
mkdir -p "$folder/programs"
cmake --install "$BUILD" --component bundle --strip --prefix "$folder" >"$BUILD/bundle.log" || {
  tail -n 15 "$BUILD/bundle.log" >&2
  fail "could not write $output (log: $BUILD/bundle.log)"
}
[ $# -eq 0 ] || cp "$@" "$folder/programs/"
cp "$ROOT/LICENSE" "$folder/"
# Libraries that are headers are part of braid-run.
for package in libcli11-dev nlohmann-json3-dev; do
  notice=/usr/share/doc/$package/copyright
  [ ! -f "$notice" ] || cp "$notice" "$folder/LICENSE.$package"
done

# The newest symbols that the files need of the C and the C++ library.
newest() {
  find "$folder" -type f \( -name '*.so' -o -name 'braid-*' \) -exec objdump -T {} + |
    grep -o "$1_[0-9.]*" | sort -uV | tail -n 1 | cut -d_ -f2
}
{
  sed "s/GLIBC_VERSION/$(newest GLIBC)/; s/LIBSTDCXX_VERSION/$(newest GLIBCXX)/" "$ROOT/tools/dev/bundle.md"
  printf '\n## Programs\n\n'
  for program in "$@"; do printf -- '- `programs/%s`\n' "$(basename "$program")"; done
} >"$folder/README.md"

size=$(du -sk "$folder" | cut -f1)
if [ "${output%.tar.gz}" != "$output" ]; then
  tar -C "$work" -czf "$work/archive" "$(basename "$folder")"
  folder=$work/archive
  size=$(du -sk "$folder" | cut -f1)
fi
mv "$folder" "$output"
say "wrote $output: $size KiB"
