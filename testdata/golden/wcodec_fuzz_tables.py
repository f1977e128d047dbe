"""Random tables of WCodec's bank: frequencies, curves, products, with and without an escape."""
from pco_reader import Corrupt
from wcodec_encode import curve, explicit, product_table
from wcodec_streams import knots_of, product_frequencies, read_bank


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
