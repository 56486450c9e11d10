#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""variants.py RUNS.json SAMPLE...

Makes rows compute_lab_SAMPLE of what samples took on a vGPU, with each interpreter of programs
that the module was loaded with, and with the one that it chose itself. RUNS.json has a line for
each load:

  simt         the module's parameter: auto, or the interpreter's name
  calibration  what debugfs shows of the calibration: lines of the name, ps per instruction of 32
               lanes, and "chosen"
  samples      what vgpu-samples --json prints
"""
import json
import statistics
import sys

REACH = 1.10


def chosen_of(run):
    """The interpreter that the programs ran with."""
    return next(line.split()[0] for line in run["calibration"].splitlines()
                if line.endswith(" chosen"))


def times_of(runs, simt, sample):
    """Milliseconds that the sample took, of each load."""
    return [entry["time_ns"] / entry["runs"] / 1e6
            for run in runs if run["simt"] == simt
            for entry in run["samples"] if entry["name"] == sample]


def calibrations_of(runs):
    """What the loads have measured, least to largest, of each interpreter."""
    found = {}
    for run in runs:
        for line in run["calibration"].splitlines():
            name, number = line.split()[:2]
            if number.isdigit():
                found.setdefault(name, []).append(int(number) / 1000)
    return ", ".join(f"{name} {min(ns):.0f} to {max(ns):.0f} ns" for name, ns in found.items())


def row_of(runs, sample):
    """The row of a sample."""
    names = list(dict.fromkeys(run["simt"] for run in runs if run["simt"] != "auto"))
    median = {name: statistics.median(times_of(runs, name, sample)) for name in names}
    auto = times_of(runs, "auto", sample)
    value, best = statistics.median(auto), min(median, key=median.get)
    choices = [chosen_of(run) for run in runs if run["simt"] == "auto"]
    chosen = ", ".join(f"{name} {choices.count(name)} times" for name in names if name in choices)
    times = ", ".join(f"{name} {median[name]:.0f} ms" for name in names)
    return {
        "name": f"compute_lab_{sample}", "value": round(value, 3), "peer": round(median[best], 3),
        "ratio": round(value / median[best], 3), "unit": "ms", "reach": REACH, "higher": False,
        "detail": f"{sample} on a vGPU through VFIO, submit to completion, medians of {len(auto)} "
                  f"loads of the module with each simt= in turns (A B B A): {times}; auto, which "
                  f"chose {chosen}, beside the fastest of them ({best}); calibration of all "
                  f"{len(runs)} loads, per instruction of 32 lanes: {calibrations_of(runs)}",
    }


def main():
    """Prints the rows."""
    with open(sys.argv[1], encoding="utf-8") as file:
        runs = [json.loads(line) for line in file]
    for sample in sys.argv[2:]:
        print(json.dumps(row_of(runs, sample)))


main()
