#!/usr/bin/env python3
"""Counts the instructions of a few pieces of work by callgrind and compares them with those on file.

    cargo build --release -p latens-benches --bin instructions
    python3 benches/instructions.py [--write] [--binary target/release/instructions]

Instructions, unlike seconds, are the same on a busy machine. They are those of the AVX2 kernels, as
valgrind knows no AVX-512. Exit 1 where a count has grown by more than 5 %; where another compiler made
the program, figures are shown and not judged. --write makes benches/results/instructions.csv anew.
"""
import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "benches/results/instructions.csv"
MOST = 1.05


def count(binary, case):
    """Instructions between entering and leaving `measured`."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
               "--toggle-collect=instructions::measured*", binary, case]
    env = {**os.environ, "LATENS_SIMD": "avx2"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--binary", default=str(ROOT / "target/release/instructions"))
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("SKIPPED: instructions: all of it; valgrind is not installed")
        return 0
    if " avx2 " not in Path("/proc/cpuinfo").read_text():
        print("SKIPPED: instructions: all of it; this processor has no AVX2")
        return 0
    compiler = subprocess.run(["rustc", "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
    cases = subprocess.run([options.binary], capture_output=True, text=True, check=True).stdout.splitlines()
    now = {case: count(options.binary, case) for case in cases}
    if options.write:
        with open(FILE, "w", newline="") as f:
            rows = csv.writer(f, lineterminator="\n")
            rows.writerow(["case", "instructions", "rustc"])
            rows.writerows([case, instructions, compiler] for case, instructions in now.items())
        return 0
    with open(FILE, newline="") as f:
        before = {row["case"]: row for row in csv.DictReader(f)}
    judged = all(row["rustc"] == compiler for row in before.values())
    grown = []
    for case, instructions in now.items():
        ratio = instructions / int(before[case]["instructions"]) if case in before else float("nan")
        print(f"{case:40} {instructions / 1e6:9.2f} M  {ratio:.3f}")
        if not ratio <= MOST:
            grown.append(case)
    if not judged:
        print(f"SKIPPED: instructions: not judged; rustc {compiler} made the program, another one the file")
        return 0
    for case in grown:
        print(f"more instructions than on file, or none there: {case}")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
