#!/usr/bin/env python3
"""Draws benches/results/plots/*.svg from the CSVs in benches/results; needs matplotlib.

    python3 benches/plots.py
"""
import csv
import math
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

RESULTS = Path(__file__).resolve().parent / "results"
PLOTS = RESULTS / "plots"
# The same bytes from the same CSVs.
plt.rcParams.update({"svg.hashsalt": "latens", "svg.fonttype": "none", "font.size": 8,
                     "axes.spines.top": False, "axes.spines.right": False})
OURS, THEIRS = "#c2410c", ["#0c4a6e", "#0284c7", "#38bdf8", "#64748b", "#a3a3a3"]


def read(name):
    with open(RESULTS / name, newline="") as f:
        return list(csv.DictReader(f))


def save(figure, name):
    figure.savefig(PLOTS / name, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)


def legend(axes, columns, title=None):
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.4, 1.0), ncol=columns, title=title)


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def speed():
    """How many times as fast latens decodes what pco wrote as each build of pco does."""
    rows = [row for row in read("pco_speed.csv") if row["level"] == "8"]
    speeds = {}
    for row in rows:
        speeds.setdefault(row["column"], {})[row["codec"]] = float(row["decompress_mb_s"])
    builds = list(dict.fromkeys(row["codec"] for row in rows if row["codec"].startswith("pco")))
    columns = sorted(speeds, key=lambda c: speeds[c]["latens (pco's file)"] / speeds[c][builds[0]])
    figure, axes = plt.subplots(figsize=(6, 7.5))
    for build, color in zip(builds, THEIRS):
        ratios = [speeds[c]["latens (pco's file)"] / speeds[c][build] for c in columns]
        axes.plot(ratios, range(len(columns)), "o", ms=3.5, color=color,
                  label=f"{build}: {mean(ratios):.2f} ×")
    axes.axvline(1, color="black", lw=0.6)
    axes.set_yticks(range(len(columns)), columns)
    axes.set_xlim(left=0)
    axes.set_xlabel("decoding pco's file of level 8: speed of latens over that of pco, one thread")
    legend(axes, 3, "build of pco 1.1.0: geometric mean")
    save(figure, "pco_decode_speed.svg")


def sizes():
    """Bytes of each column over those of pco 1.1.0."""
    rows = {row["name"]: row for row in read("pco_sizes_level8.csv")}
    most = {row["name"]: row for row in read("pco_sizes_level12_size.csv")}
    peers = {row["name"]: float(row["best_ratio"]) for row in read("peers.csv")}
    change = lambda row: 100 * (int(row["latens_bytes"]) / int(row["pco_bytes"]) - 1)
    names = sorted(rows, key=lambda n: change(rows[n]), reverse=True)
    places = range(len(names))
    figure, axes = plt.subplots(figsize=(6, 7.5))
    peer = [100 * (int(rows[n]["raw_bytes"]) / peers[n] / int(rows[n]["pco_bytes"]) - 1) for n in names]
    axes.plot(peer, places, "|", ms=7, color=THEIRS[3], label="smallest of some fifteen other codecs")
    axes.plot([change(most[n]) for n in names], places, "o", ms=3.5, mfc="none", color=OURS,
              label="latens, level 12, size, over pco's level 12")
    axes.plot([change(rows[n]) for n in names], places, "o", ms=3.5, color=OURS,
              label="latens, level 8, over pco's level 8")
    axes.axvline(0, color="black", lw=0.6)
    axes.set_yticks(places, names)
    axes.set_xlim(-60, 60)
    axes.set_xlabel("bytes over those of pco 1.1.0, percent (what lies outside is not shown)")
    legend(axes, 1)
    save(figure, "pco_sizes.svg")


def delta():
    """GB a second of decoded numbers, 65,536 of them."""
    rows = [r for r in read("delta_binary_packed.csv") if r["direction"] == "decode" and r["values"] == "65536"]
    kinds = list(dict.fromkeys((row["type"], row["data"]) for row in rows))
    contenders = [c for c in dict.fromkeys(row["contender"] for row in rows) if c != "latens"]
    figure, axes = plt.subplots(figsize=(6, 4.5))
    for contender, color in zip(contenders, [THEIRS[0], "#fed7aa", "#fb923c", OURS, THEIRS[4]]):
        found = {(r["type"], r["data"]): float(r["gb_per_s"]) for r in rows if r["contender"] == contender}
        axes.plot([found[k] for k in kinds], range(len(kinds)), "o", ms=4.5, color=color, label=contender)
    axes.set_yticks(range(len(kinds)), [f"{kind}, {data}" for kind, data in kinds])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("DELTA_BINARY_PACKED: GB of decoded numbers a second, one thread, in cache")
    legend(axes, 5)
    save(figure, "delta_binary_packed.svg")


def main():
    PLOTS.mkdir(exist_ok=True)
    speed()
    sizes()
    delta()


if __name__ == "__main__":
    main()
