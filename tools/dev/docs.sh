#!/usr/bin/env bash
# Writes docs/reference/dialect.md and docs/reference/passes.md from the definitions in ODS.
#
#   docs.sh            regenerates the pages
#   docs.sh --check    says whether they are current, changes nothing
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$ROOT/tools/dev/setup.sh" build
"$ROOT/tools/dev/configure.sh"
ninja -C "$BUILD" -j "$JOBS" --quiet braid-docs

status=0
for page in dialect passes; do
  new=$BUILD/docs/$page.md old=$ROOT/docs/reference/$page.md
  if cmp -s "$new" "$old"; then
    continue
  elif [ "${1:-}" = --check ]; then
    say "docs/reference/$page.md is not what the definitions say; run 'make docs' and commit:"
    diff -u "$old" "$new" | head -n 20 || true
    status=1
  else
    cp "$new" "$old"
    say "wrote docs/reference/$page.md"
  fi
done
exit $status
