#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""merge.py [--commit C] [--measured HOW] [--machine TEXT] [--suffix TEXT] [--no-table] [--out FILE]
         ROWS.json...

Merges rows into build/bench.json by name and prints a table of those given.

A file of rows has one JSON object per line, or is one JSON list of them; - is
standard input. A row has

  name    what it is called in build/bench.json; a row of that name is replaced
          where it stands, a new one goes to the end
  value   what was measured, in
  unit    this
  peer    the same of what it is measured against; null: nothing
  ratio   value / peer; null: none
  detail  what the two did, how often, from which seed

may have

  measured  what its times are times of: see below; else --measured says it

may have, as published,

  hami, fcsp, mig   the same of HAMi-core, BUD-FCSP and MIG; null: none

and, for the table only,

  reach   what the ratio, or where there is none the value, is to reach
  higher  true: at least that, false: at most

The date, the commit, "measured" and "machine" are added to each row, since rows
of several runs come together in one file.

  measured  wall          time of a clock, in a machine that shares its
                          processors with whatever else its host does
            icount        instructions: what the clocks of "scripts/lab run
                          --icount" say, whether or not the host is busy
            virtual time  simulated: neither driver nor machine took part
  machine   where: kernel, processors, how long an instruction takes, parameters
            of the modules

--measured HOW is for all rows that do not say it themselves, --measured
PATTERN=HOW for those whose name is like PATTERN (*, ?); the first that fits.

Exit status: 0, also when a row misses its goal; 2 if a row is not one, or says
nothing of how it was measured.
"""
import argparse
import datetime
import fnmatch
import json
import os
import platform
import sys

KEYS = ("name", "value", "peer", "ratio", "unit", "detail")
PUBLISHED = ("hami", "fcsp", "mig")
MEASURED = ("wall", "icount", "virtual time")


def read_rows(path):
    """Rows of one file."""
    if path == "-":
        text = sys.stdin.read()
    else:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    if text.lstrip().startswith("["):
        rows = json.loads(text)
    else:
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    for row in rows:
        missing = [key for key in KEYS if key not in row]
        if missing:
            raise ValueError(f"{path}: row {row.get('name', '?')} has no {', '.join(missing)}")
    return rows


def measure_of(row, measured):
    """How it was measured."""
    if "measured" in row:
        how = row["measured"]
    else:
        split = [text.rpartition("=")[::2] for text in measured]
        how = next((how for pattern, how in split
                    if fnmatch.fnmatch(row["name"], pattern or "*")), None)
    if how not in MEASURED:
        raise ValueError(f"row {row['name']} was measured by {how}, not {', '.join(MEASURED)}")
    return how


def number(value):
    """As it stands in the table."""
    if value is None:
        return "-"
    if value == int(value) and abs(value) < 1e9:
        return str(int(value))
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.4g}"


def table(rows):
    """Prints it; how many rows miss their goal."""
    missed = 0
    width = max([16] + [len(row["name"]) for row in rows])
    print(f"{'row':<{width}} {'value':>10} {'peer':>10} {'unit':<8} {'ratio':>6}  {'measured':<12}  to reach  met")
    for row in rows:
        what = row["value"] if row["ratio"] is None else row["ratio"]
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:.3f}"
        goal, met = "", ""
        if row.get("reach") is not None:
            higher = row["higher"]
            good = what >= row["reach"] if higher else what <= row["reach"]
            missed += not good
            goal = f"{'>=' if higher else '<='} {row['reach']:<5g}"
            met = "yes" if good else "NO"
        print(f"{row['name']:<{width}} {number(row['value']):>10} {number(row['peer']):>10} "
              f"{row['unit']:<8} {ratio:>6}  {row['measured']:<12}  {goal:<8}  {met}".rstrip())
    print()
    for row in rows:
        print(f"{row['name']}: {row['detail']}")
    with_goal = sum(row.get("reach") is not None for row in rows)
    print(f"\n{with_goal - missed} of {with_goal} rows reach their goal")
    return missed


def merge(path, rows, commit, machine):
    """Puts rows into the file at path, whole or not at all."""
    try:
        with open(path, encoding="utf-8") as file:
            merged = {row["name"]: row for row in json.load(file)}
    except FileNotFoundError:
        merged = {}
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")
    for row in rows:
        keys = KEYS + tuple(key for key in PUBLISHED if key in row)
        merged[row["name"]] = {key: row[key] for key in keys} | {
            "measured": row["measured"], "machine": machine, "date": date, "commit": commit}
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    new = f"{path}.{os.getpid()}"
    with open(new, "w", encoding="utf-8") as out:
        out.write("[\n" + ",\n".join("  " + json.dumps(row) for row in merged.values()) + "\n]\n")
    os.replace(new, path)


def main():
    """The command."""
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default=os.environ.get("COMMIT", "unknown"),
                        help="what was measured (or COMMIT in the environment)")
    parser.add_argument("--measured", action="append", default=[], metavar="[PATTERN=]HOW",
                        help=f"what times are times of: {', '.join(MEASURED)}")
    parser.add_argument("--machine", default=f"{platform.system()} {platform.release()}",
                        help="where (default: here)")
    parser.add_argument("--suffix", default="", help="what is added to the names of rows")
    parser.add_argument("--no-table", action="store_true", help="merge only")
    parser.add_argument("--out", default=os.path.join(top, "build", "bench.json"),
                        help="instead of build/bench.json")
    parser.add_argument("rows", nargs="+", metavar="ROWS.json")
    args = parser.parse_args()
    try:
        rows = [row for path in args.rows for row in read_rows(path)]
        rows = [row | {"measured": measure_of(row, args.measured),
                       "name": row["name"] + args.suffix} for row in rows]
    except (OSError, ValueError) as error:
        print(f"merge.py: {error}", file=sys.stderr)
        return 2
    if not args.no_table:
        table(rows)
    merge(args.out, rows, args.commit, args.machine)
    return 0


if __name__ == "__main__":
    sys.exit(main())
