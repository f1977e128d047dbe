#!/usr/bin/env python3
"""Writes the README's tables of sizes and speeds from the files in benches/results.

    python3 benches/readme_sizes.py

pco_sizes_level8.csv is made by the program pco_sizes (see the README), peers.csv has the ratios of
zstd and of whichever other codec was smallest on each column. wcodec_sizes.csv is made by checkpoint_sizes.py, wcodec_speed_zen5.csv by wcodec_speed, checkpoint_peers.csv
has the sizes of the smallest other codec of each checkpoint. pco_speed.csv and pco_speed_zen5.csv are made by pco_builds. Each table goes between two marks in
README.md.
"""
import csv
import math
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARK = "<!-- sizes -->"
CHECKPOINT_MARK = "<!-- checkpoints -->"
WEIGHTS_MARK = "<!-- speeds of checkpoints -->"
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
    put(CHECKPOINT_MARK, checkpoints())
    put(WEIGHTS_MARK, weights())
    for name, mark in SPEED_MARKS.items():
        put(mark, speeds(name, mark))


def checkpoints():
    """Lines of the table of checkpoints."""
    with open(ROOT / "benches/results/wcodec_sizes.csv", newline="") as f:
        ours = {row["file"]: row for row in csv.DictReader(f)}
    with open(ROOT / "benches/results/checkpoint_peers.csv", newline="") as f:
        peers = {row["file"]: row for row in csv.DictReader(f)}
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
              "them: zstd, xz, brotli, OpenZL, ZipNN, z4ai, bigsmall.", CHECKPOINT_MARK]
    return lines


def weights():
    """Lines of the table of speeds of checkpoints."""
    with open(ROOT / "benches/results/wcodec_speed_zen5.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    lines = [WEIGHTS_MARK, "| bytes as stored | decoding | over zstd -3 | encoding | two threads, decoding |", "|---|---:|---:|---:|---:|"]
    for row in rows:
        times = f"{row['ratio']} ×" if float(row["ratio"]) >= 1 else f"**{row['ratio']} ×**"
        name = f"`{row['file']}`" if "." in row["file"] else row["file"]
        lines.append(f"| {name} | {row['decode_mbs']} MB/s | {times} | {row['encode_mbs']} MB/s | {row['two_threads']} × |")
    return [*lines, WEIGHTS_MARK]


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
