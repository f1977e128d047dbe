"""Random parts of WCodec: how they are coded, and which parts they name."""
import collections
import random

import numpy as np

import pco_writer
from pco_reader import Corrupt
from wcodec_encode import varint
from wcodec_fuzz_tables import pairs_of_bits, random_pairs, random_table
from wcodec_reader import INLINE, STORED
from wcodec_symbols import ADDED, BITPLANE, DIRECT, F16, F32, ORDER, STACKED
from wcodec_tensors import PCO, PCO_TYPES
from wcodec_tiles import COLUMN, LINEAR, OF_TILES, REFERENCE
from wcodec_views import BLOCKS, SYMBOLS, layout, split, unsigned, words_together
from wcodec_writer import (RAW_VIEW, Builder, class_fields, coded, of_base, of_entry, of_this, prediction_fields, raw,
                           source)


class Draw:
    """A file that is being drawn, and how many of each kind of thing there are in it."""

    def __init__(self, seed):
        self.rng, self.drawn = random.Random(seed), collections.Counter()
        base = {} if self.chance(0.5) else None
        self.builder = Builder(seed + 1, base)
        if base is not None:
            # What nothing names; one of no bytes lies where another one does.
            base.update({"none": ("F32", [0, 3], b""), "unused": ("F16", [2], bytes(4))})

    def chance(self, of_one):
        return self.rng.random() < of_one

    def count(self, *kinds):
        self.drawn.update(kinds)

    def data(self, length):
        return bytes(self.rng.randrange(256) for _ in range(length))

    def name(self, plain):
        """That, now and then with characters around it that JSON has otherwise, or that one might think it has."""
        if self.chance(0.6):
            return plain
        odd = [chr(self.rng.randrange(32)), *'"\\\b\t\n\f\r/\x7f\x80é€\u2028\ufeff😀']
        before, behind = ("".join(self.rng.choices(odd, k=self.rng.choice([0, 1, 3, 20]))) for _ in range(2))
        return before + plain + behind

    def storage(self):
        return self.rng.choice([INLINE, STORED])

    def copy_of(self, number, *views):
        """A copy of an entry, of any type and shape to which its view and these give the same parts."""
        of = self.builder.entries[number]
        own_dtype, own_shape = (of.dtype, of.shape) if of.dtype else ("U8", [of.length])
        parts = lambda dtype, shape: [layout(v, dtype, shape, of.length) for v in views]  # noqa: E731
        views, fits = [of.descriptor[:8] or RAW_VIEW, *views], []
        for dtype in (own_dtype, "I8", "F16", "F32", "Q8_0", "ODD"):
            for shape in (own_shape, own_shape[::-1], [1, *own_shape], [*own_shape, 1], [of.length], [of.length // 2]):
                try:
                    fits += [(dtype, shape)] * (parts(dtype, shape) == parts(own_dtype, own_shape))
                except Corrupt:
                    pass
        self.count("copy")
        return self.builder.copy(self.name(f"copy {len(self.builder.entries)}"), *self.rng.choice(fits), number)

    def named(self, kind, dtype, shape, data, views, view, part=0):
        """Names a part of a tensor of these bytes: of the base, of an entry that is stored by one of `views`, or of its
        copy."""
        builder = self.builder
        name = self.name(f"{kind} {len(builder.entries) + len(builder.base or {})}")
        self.count(kind)
        if builder.base is not None and dtype not in BLOCK_NAMES and self.chance(0.6):
            builder.base[name] = dtype, shape, data
            self.count(f"{kind} in the base")
            return of_base(name, view, part)
        if self.chance(0.1):
            number = builder.plain(name, dtype, shape, data, self.storage())
        else:
            stored = self.rng.choice([RAW_VIEW, *views])
            codings = [raw(p.data) for p in split(stored, dtype, shape, data)]
            number = builder.tensor(name, dtype, shape, stored, *codings, length=len(data), storage=self.storage())
        if self.chance(0.1):
            number = self.copy_of(number, view)
            self.count("copy named")
        return of_entry(number, view, part)


BLOCK_NAMES = {name for name, *_ in BLOCKS.values()}


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


def random_block(rng, even_of=None):
    """Rows and columns of a source's block. With `even_of` they have an even number of columns, or all of so many."""
    cols = [1, 2, 8, 32, 50] if even_of is None else [2, 4, 6, 8, 12, 32, 50, even_of + 1]
    return rng.randint(1, 9), rng.choice(cols)


def random_source(draw, zero=False, even_of=None):
    """A source of numbers of some width, each with some form that fits, and perhaps a row map."""
    rng = draw.rng
    width, form = rng.choice([(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (2, 3), (4, 0), (4, 1), (4, F32)])
    count = rng.randint(1, rng.choice([300, 1000]))
    dtype = {1: "U8", 2: "U16", 4: "U32"}[width]
    values = [rng.randrange(6 if zero else 1 << rng.randint(0, 8 * width)) for _ in range(count)]
    views = [bytes([3, width, order, 0, 0, 0, 0, 0]) for order in (0, 2, 3)] if width > 1 else [
        bytes([1, 1, 0, 0, 0, 0, 0, 0])]
    data = np.array(values, unsigned(width)).tobytes()
    part = draw.named("source", dtype, [count], data, views, rng.choice([RAW_VIEW, *views]))
    row_map = None
    if draw.chance(0.3):
        rows = np.array([rng.randrange(20) for _ in range(rng.randint(1, 60))], unsigned(4))
        words = bytes([3, 4, 0, 0, 0, 0, 0, 0])
        row_map = draw.named("row map", "I32", [len(rows)], rows.tobytes(), [words], words)
    draw.count(*["zero source"] * zero)
    fraction = rng.randrange(5) + ADDED * draw.chance(0.3)
    return source(part, form, random_block(rng, even_of), fraction, row_map)


def own_source(draw, own, even_of=None):
    """A source that is another part of the tensor; `own` are these, and their numbers."""
    number, part = draw.rng.choice(own)
    form = draw.rng.randrange(2 if part.kind == SYMBOLS else F16 + 2)
    draw.count("source within the tensor")
    return source(of_this(number), form, random_block(draw.rng, even_of), draw.rng.randrange(3))


def random_reference(draw, bits, count, own):
    """Names a part of symbols of as many bits; none where there can be none."""
    rng = draw.rng
    alike = [number for number, part in own if part.bits == bits]
    if alike and draw.chance(0.7):
        draw.count("reference within the tensor")
        return of_this(rng.choice(alike))
    if bits in (5, 6) and draw.chance(0.5):
        # Blocks, of which it is the last part.
        number = rng.choice([6, 7, 13] if bits == 5 else [14])
        dtype, size, elements, _ = BLOCKS[number]
        blocks = max(1, count // elements + rng.randrange(-1, 2))
        view, shape = bytes([5, number, 0, 0, 0, 0, 0, 0]), [blocks * elements]
        last = len(layout(view, dtype, shape, size * blocks)) - 1
        return draw.named("reference", dtype, shape, draw.data(size * blocks), [view], view, last)
    # Symbols a byte each, of as many bits as those: two of four bits, the same as they are packed.
    together, view = words_together(bits), bytes([2, bits, 1, 8, 0, 0, 0, 0])
    if count * bits % (8 * together):
        return None
    runs = count * bits // (8 * together)
    size = together * rng.choice([runs, runs, max(1, runs * rng.randrange(10) // 10), runs + rng.randrange(1, 99)])
    return draw.named("reference", "U8", [size], draw.data(size), [view], view)


def random_prediction(draw, bits, rows, cols, transform, pairs, own):
    rng = draw.rng
    choice = [0, 1, 2, 3, 4, 5, COLUMN, REFERENCE, REFERENCE, LINEAR, OF_TILES, OF_TILES, OF_TILES]
    predictor = COLUMN if pairs else rng.choice(choice)
    # Of many columns the weights would take minutes.
    if predictor == LINEAR and not 2 <= cols <= 300:
        predictor = 4
    means = reach = reference = None
    if predictor in (COLUMN, LINEAR) or draw.chance(0.4):
        means = [rng.randrange(1 << bits) for _ in range(cols)]
    if predictor == REFERENCE or (predictor == OF_TILES and draw.chance(0.7)):
        reference = random_reference(draw, bits, rows * cols, own)
        if reference is None and predictor == REFERENCE:
            predictor = 3
    weights = ()
    if predictor == LINEAR:
        reach = rng.randint(1, min(384, cols - 1))
        weights = [rng.randint(-128, 127) for _ in range(sum(min(c, reach) for c in range(cols)))]
    names = {COLUMN: "COLUMN", REFERENCE: "REFERENCE", LINEAR: "LINEAR", OF_TILES: "of tiles"}
    draw.count(names.get(predictor, "nearby"))
    low, high = (8, 33) if transform else (1, 20)
    tile = rng.randint(low, high), rng.randint(low, high)
    fields = prediction_fields(tile, predictor, rng.randrange(1 << bits), means, reference, reach, weights)
    return fields, reference is not None


def random_coding(draw, bits, rows, cols, room, own, of_bytes=False):
    """How a part of symbols is coded, what to call that, and whether it names parts: it may `room` of them; `own` are
    those of the same tensor that name none, and their numbers. Bytes are never planes."""
    builder, rng = draw.builder, draw.rng
    count = rows * cols
    codec = DIRECT if of_bytes else rng.choice([DIRECT, DIRECT, BITPLANE])
    transform = rng.random() < (0.3 if bits < 5 else 0.45)
    predict = transform or codec == BITPLANE or rng.random() < 0.5
    classes = rng.random() < 0.6 and not (codec == DIRECT and transform)
    pairs = not transform and codec == DIRECT and bits in (2, 3, 4) and rng.random() < 0.8
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
    kind = rng.choice([0, ORDER, ORDER, STACKED, STACKED]) if pairs and rows * cols == count else 0
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
        # A source takes two, with its row map; a part of the tensor one, and so does a reference.
        even_of = cols if stacked else None
        wanted = min(rng.choice([0, 0, 1, 1, 2, 4]), room // 2 - 1)
        levels = [random_source(draw, even_of=even_of) for _ in range(wanted)]
        if own and draw.chance(0.6):
            levels = levels[:3] + [own_source(draw, own, even_of)]
        zero = None
        if room >= 12 and draw.chance(0.3) and not stacked:
            zero = random_source(draw, True)
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
        prediction, refers = random_prediction(draw, bits, rows, cols, transform, pairs, own)
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


def random_chunk(rng, k, count):
    """Latents of k bits, their bins, and how many times they are sums of what is in these."""
    order = rng.randint(0, min(3, count - 1))
    bits = rng.randint(0, k - 2)
    if rng.random() < 0.2:
        bins, latents = [(1, 0, k)], [rng.randrange(1 << k) for _ in range(count)]
    elif order:
        # A delta of 0 is stored as the middle.
        bins, latents = [(1, 1 << k - 1, bits)], [rng.randrange(1 << bits) for _ in range(count)]
    else:
        weights = rng.choice([[1], [1, 1], [3, 1], [2, 5, 1], [9, 3, 3, 1]])
        bins = [(weight, i << k - 2, bits) for i, weight in enumerate(weights)]
        latents = [lower + rng.randrange(1 << bits) for _, lower, _ in rng.choices(bins, weights, k=count)]
    for _ in range(order):
        latents = [int(x) % (1 << k) for x in np.cumsum(np.array(latents, object))]
    return latents, bins, order


def random_pco(rng, group):
    """Words in files of Pco, each of one or two chunks."""
    def code(_, __, part):
        ty, values, groups = PCO_TYPES[part.kind, part.width], [], []
        while len(values) < part.count:
            left = min(group, part.count - len(values))
            w = pco_writer.Writer()
            uniform, n_hint = rng.choice([None, ty]), rng.choice([0, left])
            pco_writer.write_header(w, rng.choice([2, 3]), 4, uniform=uniform, n_hint=n_hint)
            for count in [left] if left == 1 or rng.random() < 0.5 else [left // 2, left - left // 2]:
                latents, bins, order = random_chunk(rng, pco_writer.width(ty), count)
                values += [pco_writer.unordered(ty, latent) for latent in latents]
                pco_writer.write_chunk(w, 4, ty, values[-count:], [bins], delta=int(order > 0), states=order)
            w.put(0, 8, "end")
            groups.append(w.bytes())
        part.data = np.array(values, unsigned(part.width))
        return bytes([PCO]) + varint(group), groups
    return code


def random_words(draw, part):
    """How a part of words is coded, and what to call that."""
    group = draw.rng.choice([1, 7, 100, part.count, part.count + 5])
    if draw.chance(0.6):
        # Of few words a file each.
        return random_pco(draw.rng, max(group, part.count // 20)), "PCO"
    return raw(group=group), "RAW"
