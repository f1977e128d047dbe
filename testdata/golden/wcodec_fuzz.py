"""Random valid files by wcodec_writer.py, read by the tool, which must find the model hash in each."""
import argparse
import collections
import pathlib
import random
import subprocess
import tempfile

from pco_reader import Corrupt
from wcodec_encode import curve, explicit, product_table
from wcodec_reader import INLINE, STORED
from wcodec_streams import knots_of, product_frequencies, read_bank
from wcodec_symbols import ADDED, BITPLANE, DIRECT, F32, ORDER, STACKED
from wcodec_tiles import COLUMN, LINEAR, OF_TILES, REFERENCE
from wcodec_views import matrix_of
from wcodec_writer import Builder, class_fields, coded, of_entry, of_this, prediction_fields, raw, source


def random_explicit(rng, bits, log, needed=None, alphabet=None):
    """Perhaps with a symbol that must not be missing, or of an alphabet of more bits."""
    present = rng.sample(range(1 << bits), rng.randint(1, min(1 << bits, 1 << log, rng.choice([2, 16, 256]))))
    if needed is not None and needed not in present:
        present[0] = needed
    weights = [rng.random() ** 3 + 1e-3 for _ in present]
    frequencies, room = [0] * (1 << bits), (1 << log) - len(present)
    for s, w in zip(present, weights):
        frequencies[s] = 1 + int(room * w / sum(weights))
    frequencies[present[0]] += (1 << log) - sum(frequencies)
    return explicit(alphabet or bits, log, frequencies)


def random_steps(rng, extent):
    """Of the logs, which must stay in 0 … 1023."""
    log, steps = 1023 // 4, []
    for _ in knots_of(extent):
        to = max(0, log - rng.randint(0, 40)) if rng.random() < 0.7 else rng.randint(0, 255)
        steps.append(to - log)
        log = to
    return steps


def random_curve(rng, bits, log):
    most = min(1 << bits, 1 << log) - 1
    above = rng.randint(0, most)
    below = rng.randint(0, most - above)
    symmetric = rng.random() < 0.5
    if symmetric:
        above, below = max(above, below), min(above, below)
    rest = None if symmetric else random_steps(rng, below)
    return curve(bits, log, rng.randrange(1 << bits), below, above, random_steps(rng, above), rest)


def pairs_of_bits(bits):
    return [lo | hi << 4 for lo in range(1 << bits) for hi in range(1 << bits)]


def random_pairs(builder, rng, bits, log, escape=None):
    """The number of a new table of pairs of symbols of so many bits. One pair at least is of the same two symbols, or
    the escape: STACKED needs it."""
    twice = rng.randrange(1 << bits)
    if escape is not None and (log < 8 or rng.random() < 0.6):
        return random_escaped(builder, rng, bits, log, escape, twice)
    if rng.random() < (0.2 if bits == 4 else 0.8):
        # Only what pairs of small symbols can be; of some, few, so that others are said apart.
        present, frequencies = pairs_of_bits(bits), [0] * 256
        present = rng.sample(present, rng.choice([len(present), rng.randint(1, len(present))]))
        must = [17 * twice] + [escape] * (escape is not None and rng.random() < 0.8)
        for s in must + rng.choices(present, k=(1 << log) - len(must)):
            frequencies[s] += 1
        return builder.table(explicit(8, log, frequencies))
    low, high = (builder.table(random_explicit(rng, bits, rng.randint(2, 4), twice, 4)) for _ in range(2))
    return builder.table(product_table(log, low, high))


def random_escaped(builder, rng, bits, log, escape, twice):
    """A product with an escape: that of the part, or seldom another one. What does not fit its slots is drawn anew."""
    while True:
        # Small ones lack nothing but what has no weight.
        logs = [rng.randint(1 if rng.random() < 0.2 else 8, 14) for _ in range(2)]
        factors = [random_explicit(rng, bits, factor_log, twice, 4) for factor_log in logs]
        own = rng.choice(pairs_of_bits(bits)) if rng.random() < 0.1 else escape
        low, high = (table.frequencies for table in read_bank(b"".join(factors), 2))
        try:
            frequencies = product_frequencies(low, high, log, own)
        except Corrupt:
            continue
        if frequencies[17 * twice] or frequencies[escape]:
            return builder.table(product_table(log, *map(builder.table, factors), own))


def random_table(builder, rng, bits, log):
    """The number of a new table in the bank."""
    return builder.table(rng.choice([random_explicit, random_curve])(rng, bits, log))


def random_map(rng, classes):
    # Short runs tell sums that differ by one.
    runs, longest = [], rng.choice([2, 60])
    while left := 256 - sum(length for length, _ in runs):
        runs.append((min(left, rng.randint(1, longest)), rng.randrange(classes)))
    return runs


def random_levels(rng, count):
    """Of rows or columns; of some, many are the same."""
    top, step = rng.choice([(256, 1), (256, 1), (5, 40), (5, 1), (1, 1)])
    return [rng.randrange(top) * step for _ in range(count)]


def random_source(builder, rng, zero=False, even_of=None):
    """A source of numbers of some width, each with some form that fits, and perhaps a row map. With `even_of` blocks
    have an even number of columns, or all of so many."""
    width, form = rng.choice([(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (2, 3), (4, 0), (4, 1), (4, F32)])
    count = rng.randint(1, rng.choice([300, 1000]))
    dtype = {1: "U8", 2: "U16", 4: "U32"}[width]
    values = [rng.randrange(6 if zero else 1 << rng.randint(0, 8 * width)) for _ in range(count)]
    views = [bytes(8)] + [bytes([3, width, order, 0, 0, 0, 0, 0]) for order in (0, 2, 3)]
    bytes_wide = [bytes([1, 1, 0, 0, 0, 0, 0, 0])] if width == 1 else []
    name = f"source {len(builder.entries)}"
    number = builder.tensor(name, dtype, [count], views[1] if width > 1 else bytes_wide[0], raw(values),
                            length=count * width)
    view = rng.choice(views if width > 1 else bytes_wide + [bytes(8)])
    row_map = None
    if rng.random() < 0.3:
        rows = [rng.randrange(20) for _ in range(rng.randint(1, 60))]
        words = bytes([3, 4, 0, 0, 0, 0, 0, 0])
        row_map = of_entry(builder.tensor(name + " map", "I32", [len(rows)], words, raw(rows), length=4 * len(rows)))
    block = rng.randint(1, 9), rng.choice([1, 2, 8, 50] if even_of is None else [2, 4, 6, 8, 12, 32, 50, even_of + 1])
    return source(of_entry(number, view), form, block, rng.randrange(5) + ADDED * (rng.random() < 0.3), row_map)


def random_prediction(builder, rng, bits, rows, cols, transform, pairs):
    choice = [0, 1, 2, 3, 4, 5, COLUMN, REFERENCE, LINEAR, OF_TILES, OF_TILES, OF_TILES]
    predictor = COLUMN if pairs else rng.choice(choice)
    # Of many columns the weights would take minutes.
    if predictor == LINEAR and not 2 <= cols <= 300:
        predictor = 4
    means = reach = reference = None
    if predictor in (COLUMN, LINEAR) or rng.random() < 0.4:
        means = [rng.randrange(1 << bits) for _ in range(cols)]
    if predictor == REFERENCE or (predictor == OF_TILES and rng.random() < 0.5):
        # Symbols a byte each, of as many bits as those: two of four bits, the same as they are packed.
        n = 8 // bits
        if rows * cols % n == 0:
            size, view = rows * cols // n, bytes([2, bits, 1, 8, 0, 0, 0, 0])
            size = rng.choice([size, size, max(1, size * rng.randrange(10) // 10), size + rng.randrange(1, 99)])
            reference = of_entry(builder.tensor(f"reference {len(builder.entries)}", "U8", [size], view, raw(),
                                                length=size), view)
        elif predictor == REFERENCE:
            predictor = 3
    weights = ()
    if predictor == LINEAR:
        reach = rng.randint(1, min(384, cols - 1))
        weights = [rng.randint(-128, 127) for _ in range(sum(min(c, reach) for c in range(cols)))]
    low, high = (8, 33) if transform else (1, 20)
    tile = rng.randint(low, high), rng.randint(low, high)
    fields = prediction_fields(tile, predictor, rng.randrange(1 << bits), means, reference, reach, weights)
    return fields, reference is not None


def random_coding(builder, rng, bits, rows, cols, room, plain):
    """How a part of symbols is coded, and what to call that. It may name `room` parts; `plain` are those of the
    same tensor that have no sources."""
    count = rows * cols
    codec = rng.choice([DIRECT, DIRECT, BITPLANE])
    transform = rng.random() < 0.45
    predict = transform or codec == BITPLANE or rng.random() < 0.5
    classes = rng.random() < 0.6 and not (codec == DIRECT and transform)
    pairs = not transform and codec == DIRECT and bits in (2, 4) and rng.random() < 0.8
    recut = None
    if rng.random() < 0.3:
        whole = [d for d in range(1, count + 1) if count % d == 0]
        recut = rng.choice(whole) if predict else rng.randint(1, count)
        if pairs and not predict:
            recut += recut % 2
        cols, rows = recut, -(-count // recut)
    if pairs and (cols % 2 or count % 2):
        pairs = False
    # What sorts its pairs has classes and whole rows.
    kind = rng.choice([0, ORDER, STACKED, STACKED]) if pairs and rows * cols == count else 0
    ordered, stacked, classes = kind == ORDER, kind == STACKED, classes or kind != 0
    log, escape = rng.randint(8, 14), None
    if codec == DIRECT and not transform and rng.random() < (0.6 if pairs else 0.3):
        # Of pairs any byte, if need be one that is none.
        escape = rng.randrange(256) if pairs and rng.random() < 0.3 else rng.choice(
            pairs_of_bits(bits) if pairs else range(1 << bits))
        # Few pairs are left where slots are few: products with an escape have as few of these.
        log = rng.randint(1, 7) if pairs and rng.random() < 0.15 else log
    alphabet = 8 if transform else bits
    tables = 0 if codec == BITPLANE else 16 if transform else rng.randint(1, 8) if classes else 1
    numbers = [random_pairs(builder, rng, bits, log, escape) if pairs else random_table(builder, rng, alphabet, log)
               for _ in range(min(tables, 4))]
    numbers = [rng.choice(numbers) for _ in range(tables)]
    fields = None
    if classes:
        # A source takes two, with its row map; a reference one.
        levels = [random_source(builder, rng, even_of=cols if stacked else None)
                  for _ in range(min(rng.choice([0, 0, 1, 1, 2, 4]), room // 2 - 1))]
        if plain and rng.random() < 0.6:
            levels = [source(of_this(rng.choice(plain)), rng.randrange(2), (1, 1), rng.randrange(3))]
        zero = random_source(builder, rng, True) if room >= 8 and rng.random() < 0.3 and not stacked else None
        levelled_cols = cols // 2 if pairs and not kind else cols
        row_levels = random_levels(rng, rows) if rng.random() < 0.5 else None
        col_levels = random_levels(rng, levelled_cols) if ordered or rng.random() < 0.5 else None
        most = tables if codec == DIRECT else 8 if transform else 16
        maps = [random_map(rng, most) for _ in range(rng.randint(1, 5) if zero else 1)]
        bias = rng.randint(-200, 300)
        if rng.random() < 0.1:
            # Up to what the specification allows.
            bias = rng.choice([-1, 1]) * rng.randrange(1 << rng.randint(8, 24))
        fields = class_fields(maps, bias, row_levels, col_levels, levels, zero)
    prediction, sourced = None, bool(fields and (levels or zero))
    if predict:
        prediction, refers = random_prediction(builder, rng, bits, rows, cols, transform, pairs)
        sourced = sourced or refers
    group_rows = rng.choice([rng.randint(1, rows + 2), rng.randint(1, rows + 2), rng.randint(1, 5), rows])
    scale = rng.choice([0.3, 5, 90, 3000, 40000])
    tag = " ".join(name for name, there in [
        ("DIRECT" if codec == DIRECT else "BITPLANE", True), ("RECUT", recut), ("PAIRS", pairs), ("PREDICT", predict),
        ("TRANSFORM", transform), ("CLASSES", classes), ("ORDER", ordered), ("STACKED", stacked)] if there)
    codes = rng.random() < 0.9
    tag += " ESCAPES" * (escape is not None)
    compact = codec == DIRECT and rng.random() < 0.5
    tag += " COMPACT" * compact
    code = coded(codec, group_rows, recut, pairs, prediction, transform, log, numbers, fields, scale, codes,
                 ordered, stacked, escape, compact)
    return code, tag, sourced


def random_file(seed):
    """A builder with a file of some tensors, and what is within."""
    rng = random.Random(seed)
    builder, tags = Builder(seed + 1), []
    for i in range(rng.randint(1, 2)):
        if rng.random() < 0.15:
            length = rng.randint(1, 300)
            data = bytes(rng.randrange(256) for _ in range(length))
            builder.plain(f"plain {i}", "U8", [length], data, rng.choice([INLINE, STORED]))
            tags.append("plain")
        bits = rng.choice([2, 4, 4, 8])
        n = 8 // bits
        rows, words = rng.randint(1, 30), rng.randint(1, max(1, 40 // n))
        if bits < 8 and rng.random() < 0.1:
            rows, words = rng.randint(1, 100), rng.randint(1, 300 // n)
        view, dtype, shape, width = bytes([2, bits, 1, 8, 0, 0, 0, 0]), "U8", [rows, words], 1
        parts = 1
        if bits == 8 and rng.random() < 0.3:
            width = rng.choice([2, 4])
            view, dtype, parts = bytes([4, width, 0, 0, 0, 0, 0, 0]), {2: "BF16", 4: "F32"}[width], width
            assert matrix_of(shape) == (rows, words)
        codings, plain = [], []
        for part in range(parts):
            code, tag, sourced = random_coding(builder, rng, bits, rows, words * n, 16 // parts, plain)
            codings.append(code)
            tags.append(tag)
            plain += [] if sourced else [part]
        builder.tensor(f"tensor {i}", dtype, shape, view, *codings, storage=rng.choice([INLINE, STORED]),
                       length=rows * words * width)
    return builder, tags


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["fuzz"])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for files that the tool refuses")
    arguments, failed, seen = parser.parse_args(), 0, collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "random.wcodec")
        for case in range(arguments.cases):
            seed = arguments.seed * 1_000_000 + case
            builder, tags = random_file(seed)
            path.write_bytes(builder.finish())
            run = subprocess.run([arguments.tool, "verify", path], capture_output=True, text=True)
            seen.update(tags)
            if run.returncode:
                failed += 1
                print(f"seed {seed}: {', '.join(tags)}: {run.stderr.strip() or run.stdout.strip()}", flush=True)
                if arguments.keep:
                    (arguments.keep / f"{seed}.wcodec").write_bytes(path.read_bytes())
    print(f"{arguments.cases} files, {sum(seen.values())} parts of {len(seen)} kinds, {failed} failed")
    return failed > 0
