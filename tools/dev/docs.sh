#!/usr/bin/env bash
# Writes docs/reference/dialect.md and docs/reference/passes/*.md from the definitions in ODS.
#
#   docs.sh            regenerates the pages
#   docs.sh --check    says whether they are current, changes nothing
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$ROOT/tools/dev/setup.sh" build
"$ROOT/tools/dev/configure.sh"
ninja -C "$BUILD" -j "$JOBS" --quiet braid-docs

status=0
for new in "$BUILD"/docs/dialect.md "$BUILD"/docs/passes/*.md; do
  page=docs/reference/${new#"$BUILD"/docs/}
  old=$ROOT/$page
  if cmp -s "$new" "$old"; then
    continue
  elif [ "${1:-}" = --check ]; then
    say "$page is not what the definitions say; run 'make docs' and commit:"
    diff -uN "$old" "$new" | head -n 20 || true
    status=1
  else
    mkdir -p "$(dirname "$old")"
    cp "$new" "$old"
    say "wrote $page"
  fi
done
exit $status
