#!/usr/bin/env python3
"""Writes the README's tables of sizes and speeds from the files in benches/results.

    python3 benches/readme_sizes.py

pco_sizes_level8.csv is made by the program pco_sizes (see the README), peers.csv has the ratios of
zstd and of whichever other codec was smallest on each column. wcodec_sizes.csv is made by
checkpoint_sizes.py, wcodec_bars.csv and wcodec_bars_requantised.csv by wcodec_bars.py,
checkpoint_peers.csv has the sizes of the smallest other codec of each checkpoint. wcodec_speed.csv and
its like are made by wcodec_speed, one for each machine, pco_speed.csv and pco_speed_zen5.csv by
pco_builds. Each table goes between two marks in README.md.
"""
import csv
import math
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARK = "<!-- sizes -->"
CHECKPOINT_MARK = "<!-- checkpoints -->"
SAVED_MARK = "<!-- what checkpoints save -->"
BARS_MARK = "<!-- bars of checkpoints -->"
# With AVX2 alone, and by the code as it is.
WEIGHTS_MARKS = {
    "wcodec_speed_avx2.csv": "<!-- speeds of checkpoints -->",
    "wcodec_speed_zen5.csv": "<!-- speeds of checkpoints on Zen 5 -->",
}
MACHINES_MARK = "<!-- machines of checkpoints -->"
SLICES_MARK = "<!-- slices of checkpoints -->"
# The machines that WCodec was measured on, the day (by the history of each file), and the file.
MACHINES = [
    ("Zen 3, AVX2", "28 Nov 2026", "wcodec_speed_avx2.csv"),
    ("Zen 4, AVX-512", "26 Nov 2026", "wcodec_speed_zen4.csv"),
    ("Zen 5, AVX-512", "29 Nov 2026", "wcodec_speed_zen5.csv"),
    ("the same, AVX2", "29 Nov 2026", "wcodec_speed_zen5_avx2.csv"),
    ("Sapphire Rapids, AVX-512", "23 Nov 2026", "wcodec_speed.csv"),
]
# Rounds that must have had a core for each thread, where that was looked at.
FEWEST_ROUNDS = 5
SPEED_MARKS = {"pco_speed.csv": "<!-- speeds -->", "pco_speed_zen5.csv": "<!-- speeds on Zen 5 -->"}
# Where each mode and delta shows, where nothing does, and where others are far ahead.
SHOWN = [
    "photo_rgb_u8", "ephemeris_cheb_f64", "flight_distance_i32", "seismo_counts_i32", "coast_lat_f32",
    "flight_time_us", "hip_ra_rad_f64", "watch_accel_x_f64", "air_temp_f32_as_f64", "flight_delay_i16",
    "ip_asn_u32", "piano_pcm_i16", "landmask_u8", "seismo_array_f32",
]


def read(name):
    with open(ROOT / "benches/results" / name, newline="") as f:
        return {row["name"]: row for row in csv.DictReader(f)}


def mean(ratios):
    ratios = list(ratios)
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def percent(x):
    return f"{x:+.2f} %" if abs(x) < 0.1 else f"{x:+.1f} %"


def main():
    sizes, peers = read("pco_sizes_level8.csv"), read("peers.csv")
    ours = {name: int(row["latens_bytes"]) for name, row in sizes.items()}
    pco = {name: int(row["pco_bytes"]) for name, row in sizes.items()}
    peer = {name: round(int(sizes[name]["raw_bytes"]) / float(peers[name]["best_ratio"])) for name in sizes}
    change = {name: 100 * (ours[name] / pco[name] - 1) for name in sizes}

    lines = [MARK, "| column | raw | latens | pco 1.1.0 | | latens chose | best other codec |",
             "|---|---:|---:|---:|---:|---|---:|"]
    for name in SHOWN:
        row = sizes[name]
        other = f"{peers[name]['best_codec']} {peer[name]:,}"
        if peer[name] < ours[name]:
            other = f"**{other}**"
        choice = row["latens_choice"].removesuffix("/none").replace("/", ", ")
        lines.append(f"| `{name}` | {int(row['raw_bytes']):,} | {ours[name]:,} | {pco[name]:,} "
                     f"| {percent(change[name])} | {choice} | {other} |")
    best, worst = min(change, key=change.get), max(change, key=change.get)
    behind = sum(peer[n] < ours[n] for n in sizes)
    far = sum(peer[n] * 1.02 < ours[n] for n in sizes)
    raw = {name: int(row["raw_bytes"]) for name, row in sizes.items()}
    lines += [
        "",
        f"Geometric mean of the ratios over all {len(sizes)} columns: latens "
        f"{mean(raw[n] / ours[n] for n in sizes):.3f}, pco 1.1.0 {mean(raw[n] / pco[n] for n in sizes):.3f}, "
        f"zstd -3 {mean(float(peers[n]['zstd3']) for n in sizes):.3f}, "
        f"zstd -19 {mean(float(peers[n]['zstd19']) for n in sizes):.3f}, "
        f"the best other codec of each column {mean(raw[n] / peer[n] for n in sizes):.3f}. "
        f"Against pco the files are {100 * (1 - mean(ours[n] / pco[n] for n in sizes)):.1f} % smaller, "
        f"{percent(change[best])} (`{best}`) to {percent(change[worst])} (`{worst}`).",
        "",
        f"**Where others are better** (bold): on {behind} of the {len(sizes)} columns the best of about "
        f"fifteen other codecs and filters is smaller, on {far} of them by more than 2 %: OpenZL and shuffle "
        "or delta with zstd on what repeats exactly, FLAC on sampled signals.",
        MARK,
    ]
    put(MARK, lines)
    put(SAVED_MARK, saved())
    put(CHECKPOINT_MARK, checkpoints())
    put(BARS_MARK, bars())
    for name, mark in WEIGHTS_MARKS.items():
        put(mark, weights(name, mark))
    put(MACHINES_MARK, machines())
    put(SLICES_MARK, slices())
    for name, mark in SPEED_MARKS.items():
        put(mark, speeds(name, mark))


def rows_of(name):
    """Lines of a file of results."""
    with open(ROOT / "benches/results" / name, newline="") as f:
        return list(csv.DictReader(f))


def listed(names):
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def saved():
    """The README's first words on checkpoints."""
    rows = rows_of("wcodec_sizes.csv")
    of_flat = [100 * int(row["wcodec"]) / int(row["bytes"]) for row in rows]
    return [SAVED_MARK, f"Checkpoints of neural networks (safetensors, GGUF) too: {len(rows)} public ones, INT8, INT4 and "
            f"BF16, become {100 - max(of_flat):.1f} to {100 - min(of_flat):.1f} % smaller and come back byte for byte; "
            "any rows of a tensor can be read without the rest.", SAVED_MARK]


def checkpoints():
    """Lines of the table of checkpoints."""
    ours = {row["file"]: row for row in rows_of("wcodec_sizes.csv")}
    peers = {row["file"]: row for row in rows_of("checkpoint_peers.csv")}
    lines = [CHECKPOINT_MARK, "| checkpoint | flat | latens | of flat | zstd -19 | best other codec |",
             "|---|---:|---:|---:|---:|---:|"]
    behind = 0
    for name, row in ours.items():
        flat, size = int(row["bytes"]), int(row["wcodec"])
        peer = peers.get(name)
        zstd = f"{int(peer['zstd19']):,}" if peer else "–"
        other = f"{peer['best_peer']} {int(peer['best_peer_bytes']):,}" if peer else "–"
        if peer and int(peer["best_peer_bytes"]) < size:
            behind, other = behind + 1, f"**{other}**"
        lines.append(f"| `{name}` | {flat:,} | {size:,} | {100 * size / flat:.1f} % | {zstd} | {other} |")
    known = sum(name in peers for name in ours)
    lines += ["", f"On {known - behind} of the {known} that others were measured on latens is smaller than all of "
              "them: zstd, xz, brotli, OpenZL, ZipNN, z4ai, bigsmall."]
    unread = [f"`{name}`" for name in peers if name not in ours]
    if unread:
        lines[-1] += (f" They were also measured on {listed(unread)}, which latens refuses: only safetensors and GGUF "
                      "are read, ONNX and other formats are not.")
    return [*lines, CHECKPOINT_MARK]


def bars():
    """Lines of the table of what is saved where less is than was aimed at."""
    found, levels = {}, ("8", "9", "12")
    for file in ("wcodec_bars.csv", "wcodec_bars_requantised.csv"):
        for row in rows_of(file):
            group, _, level = row["class"].partition(", level ")
            if row["file"].startswith("minilm-l6."):
                found.setdefault((group, row["bar"]), {})[file, level or "8"] = row
    lines = [BARS_MARK, "| MiniLM-L6, per cent saved at levels 8, 9, 12 | aimed at | as above | requantised |",
             "|---|---:|---:|---:|"]
    for (group, bar), of in found.items():
        if not any(row["verdict"] for row in of.values()):
            continue
        cells = []
        for file in ("wcodec_bars.csv", "wcodec_bars_requantised.csv"):
            there = [of[file, level] for level in levels if (file, level) in of]
            numbers = [f"**{row['saved_per_cent']}**" if row["verdict"] else row["saved_per_cent"] for row in there]
            cells.append(", ".join(numbers) or "–")
        lines.append(f"| {group} | {bar} | {' | '.join(cells)} |")
    return [*lines, BARS_MARK]


def named(row):
    return f"`{row['file']}`" if "." in row["file"] else row["file"]


def times(ratio):
    return f"{ratio} ×" if float(ratio) >= 1 else f"**{ratio} ×**"


def weights(name, mark):
    """Lines of a table of speeds of checkpoints."""
    lines = [mark, "| bytes as stored | decoding | over zstd -3 | encoding | two threads, decoding |", "|---|---:|---:|---:|---:|"]
    rows = rows_of(name)
    for row in rows:
        whole = int(row.get("two_threads_rounds", f"{FEWEST_ROUNDS} of").split()[0]) >= FEWEST_ROUNDS
        two = f"{row['two_threads']} ×" if whole else "–"
        lines.append(f"| {named(row)} | {row['decode_mbs']} MB/s | {times(row['ratio'])} | {row['encode_mbs']} MB/s | {two} |")
    if name == next(iter(WEIGHTS_MARKS)):
        speeds = {row["file"] for row in rows}
        none = [row["file"] for row in rows_of("wcodec_sizes.csv") if row["file"] not in speeds]
        none = listed([f"`{file.removesuffix('.safetensors')}`" for file in none])
        lines += ["", f"The list is not complete: no speed is on file of {none}. `latens bench FILE` measures any "
                  "checkpoint, beside zstd."]
    return [*lines, mark]


def by_machine(files, cell):
    """Lines of a table of files by machines; `cell` makes its text of a file's line."""
    of = [{row["file"]: row for row in rows_of(file)} for _, _, file in MACHINES]
    lines = ["| bytes as stored | " + " | ".join(f"[{name}](benches/results/{file}), {day}" for name, day, file in MACHINES) + " |",
             "|---|" + "---:|" * len(MACHINES)]
    for file, row in of[0].items():
        if not files or file in files:
            cells = [cell(there[file]) if file in there else "–" for there in of]
            lines.append(f"| {named(row)} | {' | '.join(cells)} |")
    return lines


def machines():
    """Lines of the table of all machines: decoding over zstd -3, and how much longer encoding takes."""
    lines = [MACHINES_MARK, *by_machine(None, lambda row: times(row["ratio"]))]
    spans = []
    for _, _, file in MACHINES:
        longer = [float(row["decode_mbs"]) / float(row["encode_mbs"]) for row in rows_of(file)]
        spans.append(f"{min(longer):.1f} to {max(longer):.1f} ×")
    return [*lines, f"| *encoding takes, of decoding's time* | {' | '.join(spans)} |", MACHINES_MARK]


def slices():
    """Lines of the table of 64 rows."""
    files = ["INT8 4096²", "INT8 by rows 4096²", "INT4 g128 4096²", "INT4 g128 by columns 4096²"]

    def cell(row):
        across = row.get("slice_across_percent")
        return f"{row['slice_percent']} %" + (f", {across} %" if across else "")
    return [SLICES_MARK, *by_machine(files, cell), SLICES_MARK]


def speeds(name, mark):
    """Lines of the table of speeds over those of builds of pco, at level 8."""
    found = {}
    with open(ROOT / "benches/results" / name, newline="") as f:
        for row in csv.DictReader(f):
            # Other codecs have no levels there.
            if row["level"] in ("8", ""):
                found.setdefault(row["codec"], {})[row["column"]] = row
    lines = [mark, "| build of pco 1.1.0 | decoding its files | least | decoding own files | compressing |",
             "|---|---:|---:|---:|---:|"]
    for build in (codec for codec in found if codec.startswith("pco")):
        ratios = []
        for codec, field in [("latens (pco's file)", "decompress_mb_s"), ("latens", "decompress_mb_s"),
                             ("latens", "compress_mb_s")]:
            ratios.append([float(found[codec][c][field]) / float(row[field]) for c, row in found[build].items()])
        theirs, own, compress = ratios
        lines.append(f"| {build.removeprefix('pco ')} | {mean(theirs):.2f} × | {min(theirs):.2f} × | {mean(own):.2f} × "
                     f"| {mean(compress):.2f} × |")
    lines += ["", "| other codec | bytes of latens over its | decoding | compressing |", "|---|---:|---:|---:|"]
    for codec in (codec for codec in found if not codec.startswith(("pco", "latens"))):
        ratios = [[float(found["latens"][c][field]) / float(row[field]) for c, row in found[codec].items()]
                  for field in ("bytes", "decompress_mb_s", "compress_mb_s")]
        size, decode, compress = map(mean, ratios)
        lines.append(f"| {codec} | {size:.2f} | {decode:.2f} × | {compress:.2f} × |")
    return [*lines, mark]


def put(mark, lines):
    readme = ROOT / "README.md"
    before, _, after = readme.read_text().split(mark)
    readme.write_text(before + "\n".join(lines) + after)


main()
