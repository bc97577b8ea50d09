#!/usr/bin/env bash
# One night: recode new records as the last whole release was, verify them and publish them.
# Run it in the folder of the definition: nightly.sh NEW.csv
# It needs what `shoal run patients.yaml --transformation patients.json` wrote there.
set -uo pipefail

day="$(date +%F)"
mkdir -p nights
shoal apply patients.json "$1" --output "nights/$day.csv" --with release.csv --suppress-new \
  --json "nights/$day.json" --quiet
code=$?

case $code in
  0) echo "$day: released and verified" ;;
  2) echo "$day: the data or the command is wrong; nothing was released" >&2 ;;
  3) echo "$day: the new records do not meet the demands; nothing was released" >&2 ;;
  4) echo "$day: the verifier refused; nothing was released" >&2 ;;
  *) echo "$day: failed with $code; nothing was released" >&2 ;;
esac
exit "$code"
