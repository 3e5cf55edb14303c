#!/usr/bin/env bash
# Regenerates everything in a copy of the tree and fails if that changes, adds or
# removes a file, or if a generated file isn't tracked by git. Changes nothing here.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d "${TMPDIR:-/tmp}/armature-verify-XXXXXX")
trap 'rm -rf "$work"' EXIT

# files prints what git tracks or would track, as it is in the working tree.
files() {
  git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do
      if [[ -e $file ]]; then printf '%s\0' "$file"; fi
    done
}

failed=0
mkdir "$work/committed" "$work/generated"
files | tar -cf "$work/tree.tar" --null -T -
tar -xf "$work/tree.tar" -C "$work/committed"
tar -xf "$work/tree.tar" -C "$work/generated"

echo "verify: regenerating in a copy, from ${SPECS:-the default specs}"
(cd "$work/generated" && go generate ./...)
if ! (cd "$work" && git --no-pager diff --no-index --stat --patch committed generated); then
  failed=1
fi

untracked=$(git ls-files -z --others --exclude-standard -- . ':!*/testdata/*' |
  xargs -0 -r grep -lIE '^(//|#|<!--) ?Code generated .* DO NOT EDIT' -- || true)
if [[ -n $untracked ]]; then
  printf 'verify: generated but not in git:\n%s\n' "$untracked"
  failed=1
fi

if ((failed)); then
  echo "verify: FAILED: what is committed is not what the generator writes: run make generate and commit"
  exit 1
fi
echo "verify: ok: $(files | tr -cd '\0' | wc -c | tr -d ' ') files, no difference"
