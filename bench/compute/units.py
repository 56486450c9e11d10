#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""units.py RUNS.json HOW SAMPLE...

Makes rows of what samples took on a vGPU whose engine gr has one unit, and several. RUNS.json has
a line for each load of the module:

  units    the module's parameter
  samples  what vgpu-samples --json prints

HOW is

  gain     rows units_SAMPLE: one unit's time in those of several, each on a processor of its own
  few      row units_few: the time of all samples on several units in those on one, on one processor
  hogged   row units_hogged: the same on two, of which other threads always want one
"""
import json
import statistics
import sys

REACH_EACH = 0.9    # of the number of units
REACH_FEW = 1.03


def times_of(runs, units, samples):
    """Milliseconds that the samples took together, of each load with so many units."""
    return [sum(entry["time_ns"] / entry["runs"] / 1e6
                for entry in run["samples"] if entry["name"] in samples)
            for run in runs if run["units"] == units]


def row_of(runs, name, samples, how):
    """A row of the samples together."""
    several = max(run["units"] for run in runs)
    one, all_units = (times_of(runs, units, samples) for units in (1, several))
    pairs = list(zip(one, all_units))
    gain = how == "gain"
    ratio = statistics.median(a / b if gain else b / a for a, b in pairs)
    value, peer = (one, all_units) if gain else (all_units, one)
    return {
        "name": name, "value": round(statistics.median(value), 3),
        "peer": round(statistics.median(peer), 3), "ratio": round(ratio, 3), "unit": "ms",
        "reach": REACH_EACH * several if gain else REACH_FEW, "higher": gain,
        "detail": f"{', '.join(samples)} on a vGPU through VFIO, submit to completion, units=1 "
                  f"and units={several}: {len(pairs)} pairs of loads of the module in turns "
                  "(A B B A), the median of their quotients",
    }


def main():
    """Prints the rows."""
    if len(sys.argv) < 4 or sys.argv[2] not in ("gain", "few", "hogged"):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        runs = [json.loads(line) for line in file]
    samples = sys.argv[3:]
    if sys.argv[2] == "gain":
        rows = [row_of(runs, f"units_{sample}", [sample], "gain") for sample in samples]
    else:
        rows = [row_of(runs, f"units_{sys.argv[2]}", samples, sys.argv[2])]
    for row in rows:
        print(json.dumps(row))


if __name__ == "__main__":
    main()
