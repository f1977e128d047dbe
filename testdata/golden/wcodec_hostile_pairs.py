"""Files of WCodec whose pairs are said apart, or whose products have an escape, and something is wrong with these."""
from wcodec_encode import BitWriter, encode_rans, explicit, product_table, string
from wcodec_foreign import bell, symbols
from wcodec_hostile import NIBBLES, add, put, table
from wcodec_hostile_tensors import EVERY, at, empty, fewer, in_pairs, more, of_4_bits, unchanged
from wcodec_streams import Table
from wcodec_symbols import PAIRS, PREDICT
from wcodec_writer import class_fields, coded

# ---- lists of pairs


def pairs_apart(**options):
    """The escape is the commonest pair."""
    def code(b):
        factor = b.table(bell(4, 9, 1, 1, 6))
        number = b.table(product_table(9, factor, factor, 0x11))
        return coded(log=9, tables=[number], pairs=True, group_rows=8, escape=0x11, **options)
    return code


def first_of_list(pair):
    """In the place of the first pair of a group's list."""
    def change(g):
        assert 1 <= g[0] < 128
        return put(g, 1, bytes([pair]))
    return change


of_4_bits("pair-apart-lacking", "a list of pairs that runs out", pairs_apart(), unchanged, fewer)
of_4_bits("pair-apart-left-over", "a pair left over in a list", pairs_apart(), unchanged, more)
of_4_bits("pair-apart-lacking-in-states", "a list of pairs that runs out, all pairs are in states", pairs_apart(compact=True),
          unchanged, fewer)
of_4_bits("pair-apart-left-over-in-states", "a pair left over, all pairs are in states", pairs_apart(compact=True),
          unchanged, more)
of_4_bits("pairs-apart-beyond", "more pairs said apart than the group has bytes", pairs_apart(), unchanged,
          lambda g: b"\xff\xff\x03" + g[1:])
of_4_bits("pair-apart-stacked-lacking", "a list of stacked pairs that runs out",
          pairs_apart(classes=class_fields(EVERY), stacked=True), unchanged, fewer)
of_4_bits("escape-as-another", "an escape that is not the coded one: its pairs are left over", pairs_apart(), at(4, 0xee))


def of_2_bits(name, wrong, change, rows=8, **options):
    """All pairs are the escape."""
    def altered(builder, context, part):
        number = builder.table(explicit(8, 4, [0] * 17 + [16]))
        said, groups = coded(log=4, tables=[number], pairs=True, escape=0x11, **options)(builder, context, part)
        return said, [change(g) for g in groups]

    def fill(b):
        symbols(b, "x", rows, 8, altered, 2)
        return b.finish(change=lambda r: r)
    add(name, wrong, fill)


of_2_bits("pair-apart-of-more-bits", "a pair said apart whose first symbol is 4, of 2 bits", first_of_list(0x14))
of_2_bits("pair-apart-of-more-bits-above", "a pair said apart whose second symbol is 4, of 2 bits", first_of_list(0x41))
# The last one in the list is that of the last column's last row.
of_2_bits("pair-apart-of-odd-row", "a row that is paired with itself, and the pair said apart has two halves",
          lambda g: put(g, g[0], b"\x12"), 7, stacked=True, classes=class_fields(EVERY))


def other_than_the_escape(b):
    """A coded pair that is no pair of 2 bits and is not the escape, which is none either."""
    frequencies = [0] * 256
    frequencies[0xf0], frequencies[0xf1] = 8, 8
    number = b.table(explicit(8, 4, [0] * 0xf0 + [16]))

    def altered(builder, context, part):
        said, _ = coded(log=4, tables=[number], pairs=True, escape=0xf0)(builder, context, part)
        coded_pairs = [0xf0] * 31 + [0xf1]
        return said, [string(bytes(31)) + encode_rans(coded_pairs, [0] * 32, [Table(8, 4, frequencies)], 4)]
    symbols(b, "x", 8, 8, altered, 2)
    b.tables[number] = explicit(8, 4, frequencies)
    return b.finish(change=lambda r: r)


add("pair-beside-the-escape", "a coded pair beyond 2 bits, which is not the escape", other_than_the_escape)

of_4_bits("escapes-of-pairs-of-planes", "ESCAPES with PAIRS, of BITPLANE", empty(in_pairs, PAIRS | PREDICT),
          lambda f: put(f, 0, b"\4"))


# ---- products with an escape

def escaped(log, low, high, bits=8, more=()):
    w = BitWriter().put(3, 3).put(bits - 1, 3).put(log - 1, 4).put(low, 12).put(high, 12).put(0x11, 8)
    for bit in more:
        w.put(bit, 1)
    return w.bytes()


# Entry 0 of the bank is a table of 8 bits.
table("escaped-product-of-itself", "a product with an escape of itself", NIBBLES, escaped(10, 1, 2))
table("escaped-product-of-later", "a product with an escape of tables that are missing", escaped(10, 2, 2))
table("escaped-product-of-bytes", "a product with an escape of tables of 8 bits", escaped(10, 0, 0))
table("escaped-product-of-one-of-bytes", "a product with an escape whose second table is of 8 bits", NIBBLES, escaped(10, 1, 0))
table("escaped-product-of-4-bits", "a product with an escape of 4 bits", NIBBLES, escaped(10, 1, 1, bits=4))
table("escaped-product-log-15", "a product with an escape of 2^15 slots", NIBBLES, escaped(15, 1, 1))
table("escaped-product-cut", "a product with an escape that ends before it", NIBBLES, escaped(10, 1, 1)[:-1])
table("escaped-product-padding", "a bit set behind a product with an escape", NIBBLES, escaped(10, 1, 1, more=[1]))
table("escaped-product-slots", "a product with an escape of which more symbols are left than there are slots", NIBBLES,
      escaped(1, 1, 1))
table("escaped-product-slots-with-it", "a product with an escape whose two pairs fill its slots", NIBBLES,
      explicit(4, 10, [1024]), product_table(1, 1, 2, 0xee))
