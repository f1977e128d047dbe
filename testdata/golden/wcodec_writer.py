"""Writes WCodec field by field: the caller says every choice, nothing is searched for. Symbols are drawn from their
tables; what the tensor's bytes then are is what wcodec_reader.py decodes. Written from specs/wcodec*.md alone.

    python3 wcodec_writer.py fuzz --tool target/release/latens --cases 2000 --seed 1

writes random files, and wants the tool to find the model hash in each."""
import json
import random
import struct
import zlib
from hashlib import sha256

import numpy as np

import pco_writer
from wcodec_encode import BitWriter, encode_planes, encode_rans, short_stream, string, varint, zigzagged
from wcodec_reader import (BANK, BASE, BLOB, COPY, ENTRY, FILE, HEAD, INLINE, MOST_ZEROS, PARITY, PART, RAW_VIEW, STORED, SUMS,
                           TABLES, TENSOR, File, hashed, xor)
from wcodec_streams import Bytes, in_states, read_bank
from wcodec_symbols import CLASSES, COMPACT, DIRECT, ESCAPES, ORDER, PAIRS, PREDICT, RECUT, STACKED, TRANSFORM, Coded
from wcodec_tensors import PCO, PCO_TYPES, RAW, Tensor
from wcodec_tiles import COLUMN, OF_TILES, REFERENCE, kinds_of, order_of, read_tiles, tiles_of
from wcodec_views import BYTES, SYMBOLS, join, layout, unsigned

UNSIGNED_BYTES = bytes([1, 1, 0, 0, 0, 0, 0, 0])


# ---- fields of the descriptor

def of_this(part):
    """A part of the tensor itself, by its number."""
    return varint(0) + varint(part)


def of_entry(number, view=RAW_VIEW, part=0):
    return varint(number + 2) + bytes(view) + varint(part)


def of_base(name, view=RAW_VIEW, part=0):
    return varint(1) + string(name) + bytes(view) + varint(part)


def source(part, form, block=(1, 1), fraction=0, row_map=None):
    rows, cols = block
    mapped = b"\0" if row_map is None else b"\1" + row_map
    return part + bytes([form]) + varint(rows) + varint(cols) + bytes([fraction]) + mapped


def class_fields(maps, bias=0, rows=None, cols=None, levels=(), zero=None):
    """`maps`: lists of (length, class)."""
    terms = (rows is not None) | (cols is not None) << 1 | (zero is not None) << 2 | len(levels) << 4
    streams = b"".join(short_stream(s) for s in (rows, cols) if s is not None)
    runs = b"".join(varint(length - 1) + bytes([k]) for m in maps for length, k in m)
    sources = b"".join(levels) + (zero or b"")
    return bytes([terms]) + varint(zigzagged(bias)) + streams + sources + varint(len(maps)) + runs


def prediction_fields(tile, predictor, centre=0, means=None, reference=None, reach=None, weights=()):
    sides = (means is not None) | (reference is not None) << 1 | (reach is not None) << 2
    out = varint(tile[0]) + varint(tile[1]) + bytes([predictor, centre, sides])
    out += b"" if means is None else short_stream(means)
    out += reference or b""
    return out + (b"" if reach is None else varint(reach) + short_stream([w + 128 for w in weights]))


# ---- codings: how a part is stored. Each is called with builder, context and part; it gives the part its data,
# and returns codec and fields, and the groups.

def raw(data=None, group=None):
    def code(builder, _, part):
        top = 1 << (part.bits or 8 * part.width)
        part.data = np.array([builder.random.randrange(top) for _ in range(part.count)] if data is None else data,
                             unsigned(part.width or 1))
        size = group or max(1, part.count)
        return bytes([RAW]) + varint(size), [part.data[i:i + size].tobytes() for i in range(0, part.count, size)]
    return code


def pco(group, offset_bits):
    """Numbers above a middle one, of so many bits."""
    def code(builder, _, part):
        ty = PCO_TYPES[part.kind, part.width]
        k = pco_writer.width(ty)
        lower = 0 if k == offset_bits else 5 << k - 3
        latents = [lower + builder.random.randrange(1 << offset_bits) for _ in range(part.count)]
        values, groups = [pco_writer.unordered(ty, latent) for latent in latents], []
        part.data = np.array(values, unsigned(part.width))
        for i in range(0, part.count, group):
            w = pco_writer.Writer()
            pco_writer.write_header(w, 3, 4, uniform=ty, n_hint=len(values[i:i + group]))
            pco_writer.write_chunk(w, 4, ty, values[i:i + group], [[(1, lower, offset_bits)]])
            w.put(0, 8, "end")
            groups.append(w.bytes())
        return bytes([PCO]) + varint(group), groups
    return code


def pco_runs(*groups):
    """Groups of chunks, each so many times the same word: (count, bytes)."""
    def group(part, chunks):
        w, ty = pco_writer.Writer(), f"u{8 * part.width}"
        pco_writer.write_header(w, 3, 4, uniform=ty, n_hint=sum(count for count, _ in chunks))
        for count, word in chunks:
            word = int.from_bytes(word, "little")
            pco_writer.write_chunk(w, 4, ty, [word] * count, [[(1, word, 0)]])
        w.put(0, 8, "end")
        return w.bytes()

    def code(_, context, part):
        data = b"".join(word * count for chunks in groups for count, word in chunks)
        part.data = np.frombuffer(data, f"<u{part.width}")
        made = {chunks: group(part, chunks) for chunks in set(groups)}
        return bytes([PCO]) + varint(sum(count for count, _ in groups[0])), [made[chunks] for chunks in groups]
    return code


def coded(codec=DIRECT, group_rows=1 << 20, recut=None, pairs=False, prediction=None, transform=False, log=12,
          tables=(), classes=None, scale=4.0, codes=True, ordered=False, stacked=False, escape=None, compact=False):
    """Symbols drawn from their tables; with BITPLANE and TRANSFORM, values of about `scale`."""
    has = {RECUT: recut is not None, PAIRS: pairs, PREDICT: prediction is not None, TRANSFORM: transform,
           CLASSES: classes is not None, ORDER: ordered, STACKED: stacked, ESCAPES: escape is not None, COMPACT: compact}
    flags = sum(flag for flag, there in has.items() if there)
    fields = varint(flags) + (b"" if recut is None else varint(recut)) + varint(group_rows)
    fields += (b"" if escape is None else bytes([escape])) + (prediction or b"")
    fields += bytes([log]) + varint(len(tables)) + b"".join(map(varint, tables)) + (classes or b"")

    def code(builder, context, part):
        said = Coded(Bytes(fields), part, codec, builder.bank(), context)
        groups = [builder.draw_group(said, g, scale, codes) for g in range(said.groups())]
        part.data = said.decode(groups)
        return bytes([codec]) + fields, groups
    return code


# ---- files

class Written:
    """An entry of a file that is being written."""

    def __init__(self, kind, name, dtype, shape, data, storage, of=None):
        self.kind, self.raw_name, self.dtype, self.shape, self.storage = kind, name, dtype, shape, storage
        self.data, self.length, self.of, self.names_others = data, len(data or b""), of, False
        self.groups = self.descriptor = b""

    @property
    def sizes(self):
        return len(self.groups), len(self.descriptor)

    def fields(self, previous):
        shared = 0
        while shared < min(len(previous), len(self.raw_name)) and previous[shared] == self.raw_name[shared]:
            shared += 1
        # Between two characters.
        while 0 < shared < len(self.raw_name) and self.raw_name[shared] & 0xc0 == 0x80:
            shared -= 1
        out = bytes([self.kind]) + varint(shared) + string(self.raw_name[shared:]) + string(self.dtype)
        out += varint(len(self.shape)) + b"".join(map(varint, self.shape)) + varint(self.length) + bytes([self.storage])
        if self.storage == COPY:
            return out + varint(self.of)
        out += varint(len(self.groups)) + varint(len(self.descriptor))
        if self.storage == INLINE:
            return out + self.groups + self.descriptor
        return out + struct.pack("<I", zlib.crc32(self.descriptor or self.data))


def is_pair(said, pair, alike=False):
    """Whether both halves are symbols, or one of them twice."""
    low, high = pair & 15, pair >> 4
    return max(low, high) < 1 << said.part.bits and (low == high or not alike)


def usable(said, table):
    """The frequencies of a table, of what may be coded: of pairs such as can be, and the escape."""
    if not said.pairs:
        return table.frequencies
    return [f if s == said.escape or is_pair(said, s) else 0 for s, f in enumerate(table.frequencies)]


def said_twice(said, first, rows):
    """Which coded pairs of a group are of one row, that is paired with itself."""
    if not (said.stacked and rows % 2):
        return []
    one, other = said.places(first, rows, rows * said.cols)
    return np.nonzero(one == other)[0].tolist()


class Builder:
    """A file, entry by entry. It stands in for an open file where parts of other entries are named."""

    def __init__(self, seed, base=None, base_name="base.safetensors"):
        self.random, self.base, self.base_name = random.Random(seed), base, base_name
        self.entries, self.files, self.tables = [], [], []
        # What texts know of files, which come later: their names, in order.
        self.file_names = []
        # Records that others do not know, by their place.
        self.odd = {}
        # Bytes of PARITY; whether there are to be TABLES and SUMS, which only a long index has, and then whether there are.
        self.parity, self.has_tables, self.has_sums = 0, False, False

    @property
    def base_hash(self):
        if self.base is None:
            return None
        return sha256(b"".join(hashed(n.encode(), *tensor) for n, tensor in self.base.items())).digest()

    def bytes(self, number):
        entry = self.entries[number]
        return self.bytes(entry.of) if entry.of is not None else entry.data

    def table(self, fields):
        """Puts a table into the bank; its number."""
        self.tables.append(fields)
        return len(self.tables) - 1

    def bank(self):
        return read_bank(b"".join(self.tables), len(self.tables))

    def reserve(self):
        """The number of an entry that is to come."""
        self.entries.append(None)
        return len(self.entries) - 1

    def put(self, entry, number=None):
        number = self.reserve() if number is None else number
        self.entries[number] = entry
        return number

    def tensor(self, name, dtype, shape, view, *codings, storage=INLINE, length=None, number=None, kind=TENSOR):
        """`length` where the view's parts do not say it."""
        parts = layout(bytes(view), dtype, shape, length)
        entry = Written(kind, name.encode(), dtype, shape, bytes(length), storage)
        context, descriptor, groups = Tensor(self, entry), bytes(view) + varint(len(parts)), b""
        for part, code in zip(parts, codings, strict=True):
            fields, stored = code(self, context, part)
            context.parts.append(part)
            sizes = {SYMBOLS: (part.bits, part.rows, part.cols), BYTES: (part.count,)}
            shape_fields = sizes.get(part.kind, (part.width, part.count))
            descriptor += bytes([part.role, part.kind]) + b"".join(map(varint, shape_fields)) + fields
            descriptor += b"".join(varint(len(g)) for g in stored)
            if storage == STORED:
                descriptor += b"".join(struct.pack("<I", zlib.crc32(g)) for g in stored)
            groups += b"".join(g + bytes(-len(g) % 4) for g in stored)
        entry.groups, entry.descriptor = groups, descriptor
        entry.data = join(bytes(view), dtype, shape, length, parts)
        return self.put(entry, number)

    def plain(self, name, dtype, shape, data, storage=INLINE, kind=TENSOR):
        """Bytes as they are, without a descriptor."""
        entry = Written(kind, name.encode(), dtype, shape, data, storage)
        entry.groups = data + bytes(-len(data) % 4 if storage == STORED else 0)
        return self.put(entry)

    def blob(self, data):
        return self.tensor("", "", [], RAW_VIEW, raw(list(data)), length=len(data), kind=BLOB)

    def copy(self, name, dtype, shape, of, kind=TENSOR):
        entry = Written(kind, name.encode(), dtype, shape, None, COPY, of)
        entry.length = self.entries[of].length
        return self.put(entry)

    def name(self, number):
        """Of an entry, or of a file by what `of_file` gives."""
        return self.entries[number].raw_name if number >= 0 else self.file_names[-1 - number].encode()

    def text(self, marker, *pieces, zeros=0):
        """A text of bytes and of names; and what is woven of it. The name of an entry is its number, as JSON has it
        in the fewest bytes ("quoted", number), in ASCII ("ascii", number), and bytes of it are ("part", number, first,
        count). That of a file has the number that `of_file` gives, and is one of `file_names`."""
        text, whole, following = b"", b"", 0
        for piece in pieces:
            if isinstance(piece, bytes):
                text += piece.replace(bytes([marker]), bytes([marker, 0]))
                whole += piece
                continue
            form, number, *part = (None, piece) if isinstance(piece, int) else piece
            form = (None, "quoted", "ascii", "part").index(form)
            text += bytes([marker]) + varint(4 * zigzagged(number - following) + 1 + form) + b"".join(map(varint, part))
            name, following = self.name(number), number + 1 if number >= 0 else following
            if form == 3:
                whole += name[part[0]:sum(part)]
            else:
                whole += quoted(name, in_ascii=form == 2) if form else name
        return text + bytes(zeros) + bytes([zeros, marker]), whole

    def file(self, name, *segments):
        """Of entries, by number; a string of n zero bytes is ("zeros", n), these bytes woven of an entry are
        ("woven", number, bytes), and those that are a part of what is woven ("part", number, first, bytes)."""
        sizes = [self.entries[s].length if isinstance(s, int) else s[1] if s[0] == "zeros" else len(s[-1]) for s in segments]
        self.files.append((name, sum(sizes), segments))

    def content(self, number):
        """The bytes of a file."""
        of = lambda s: self.bytes(s) if isinstance(s, int) else bytes(s[1]) if s[0] == "zeros" else s[-1]  # noqa: E731
        return b"".join(map(of, self.files[number][2]))

    # ---- drawing

    def draw_group(self, said, group, scale, codes):
        """Stored bytes of a group."""
        first, rows, count = said.span(group)
        kinds = said.classes(first, rows)
        if not said.prediction:
            kinds = kinds.reshape(-1)[:said.coded_symbols(rows, count)]
            symbols = self.draw_pairs(said, kinds, first, rows)
            stored = encode_rans(symbols, kinds, said.tables, said.log, said.compact)
            return self.draw_escapes(said, symbols, first, rows) + stored
        p = said.prediction
        head = self.draw_tiles(said, tiles_of(p.size, rows, said.cols), codes)
        tiles, _ = read_tiles(head, p.size, p.predictor, said.transform, rows, said.cols)
        kinds = kinds_of(tiles, kinds) if said.transform else kinds
        if said.bitplane:
            values = [round(self.random.gauss(0, scale)) for _ in range(count)]
            values = np.clip(np.array(values).reshape(rows, said.cols), -65535, 65535)
            return head + encode_planes(values, order_of(tiles, said.transform, rows, said.cols), kinds)
        symbols = self.draw_pairs(said, kinds.reshape(-1), first, rows)
        escapes = symbols.count(255) if said.transform else 0
        most = min(65280, int(2 * scale))
        escapes = [self.random.choice([0, most, self.random.randrange(most + 1)]) for _ in range(escapes)]
        head += self.draw_escapes(said, symbols, first, rows)
        stored = encode_rans(symbols, kinds.reshape(-1), said.tables, said.log, said.compact)
        return head + stored + struct.pack(f"<{len(escapes)}H", *escapes)

    def draw(self, said, kinds):
        """Symbols of these classes; any of those that are in states."""
        by_class = {k: usable(said, said.tables[k]) for k in set(kinds)}
        out = [self.random.choices(range(len(f)), f)[0] for f in (by_class[k] for k in kinds)]
        most = 1 << said.part.bits
        for i in range(len(out) - in_states(len(out), said.alphabet), len(out)) if said.compact else []:
            s, t = (self.random.randrange(most) for _ in range(2))
            out[i] = s | t << 4 if said.pairs else s + most * t if said.transform else s
            out[i] %= 256
            if said.pairs and said.escape is not None and self.random.random() < 0.2:
                out[i] = said.escape
        return out

    def draw_escapes(self, said, symbols, first, rows):
        """Any symbols in place of the escapes; of pairs now and then the escape itself."""
        if said.escape is None:
            return b""
        places = [i for i, s in enumerate(symbols) if s == said.escape]
        draw = lambda: self.random.randrange(1 << said.part.bits)  # noqa: E731
        if not said.pairs:
            return string(bytes(draw() for _ in places))
        apart, alike = [], set(said_twice(said, first, rows))
        for i in places:
            s = draw()
            pair = 17 * s if i in alike else s | draw() << 4
            itself = is_pair(said, said.escape, i in alike) and self.random.random() < 0.1
            apart.append(said.escape if itself else pair)
        return string(bytes(apart))

    def draw_pairs(self, said, kinds, first, rows):
        """Symbols of these classes; of STACKED both halves are the same where a row is paired with itself. A table
        must have such a pair then, or the escape."""
        symbols = self.draw(said, kinds)
        for i in said_twice(said, first, rows):
            frequencies = usable(said, said.tables[kinds[i]])
            alike = [s for s in range(256) if s % 17 == 0 or s == said.escape]
            symbols[i] = self.random.choices(alike, [frequencies[s] for s in alike])[0]
        return symbols

    def draw_tiles(self, said, tiles, codes):
        p, predictors, out = said.prediction, BitWriter(), BitWriter()
        allowed = list(range(6)) + [COLUMN] * (p.means is not None) + [REFERENCE] * (p.reference is not None)
        for i, _ in enumerate(tiles if p.predictor == OF_TILES else []):
            # Each of them once, where there is room.
            predictors.put(allowed[i] if i < len(allowed) else self.random.choice(allowed), 3)
        if not said.transform:
            return predictors.bytes()
        for tile in tiles if codes else []:
            for _ in tile.blocks:
                out.put(self.random.randrange(3), 2)
        return predictors.bytes() + bytes([int(codes)]) + out.bytes()

    # ---- the whole

    def model_hash(self):
        out = sha256()
        for number, e in enumerate(self.entries):
            if e.kind == TENSOR:
                out.update(hashed(e.raw_name, e.dtype, e.shape, self.bytes(number)))
        return out.digest()

    def finish(self, known=False, quantisation=0, minor=0, change=None):
        """The bytes of the file, as the reader in Python agrees. `known`: the header says hash, count and index.
        `change` makes other records of them, and nothing is checked."""
        data = bytearray()
        for e in self.entries:
            if e.storage == STORED:
                data += bytes(-len(data) % (128 if e.descriptor else 4)) + e.groups + e.descriptor
        bank = b"".join(self.tables)
        data += bytes(-len(data) % 128) + bank
        data += bytes(-len(data) % 128)
        index_at = 128 + len(data)
        told = bytes(44)
        if known:
            tensors = sum(e.kind == TENSOR for e in self.entries)
            told = self.model_hash() + struct.pack("<IQ", tensors, index_at)
        header = b"WCODEC\0\0" + struct.pack("<HH", 1, minor) + told[:32] + bytes([quantisation, 16, 16]) + told[32:]
        header += bytes(128 - len(header))
        records = self.records(header, bank)
        if change:
            return close(header + bytes(data), change(records))
        out = close(header + bytes(data), records)
        file = File(out, self.base)
        file.verify()
        assert all(name == file[0] for name, file in zip(self.file_names, self.files))
        assert all(file.bytes(i) == self.bytes(i) for i in range(len(self.entries)))
        assert all(file.file(i) == self.content(i) for i in range(len(self.files)))
        return out

    def records(self, header, bank):
        """(tag, content) of the index."""
        out = [(HEAD, struct.pack("<I", zlib.crc32(header)) + self.model_hash())]
        if self.base is not None:
            out.append((BASE, self.base_hash + string(self.base_name)))
        out.append((BANK, varint(len(self.tables)) + varint(len(bank)) + struct.pack("<I", zlib.crc32(bank))))
        previous = b""
        for e in self.entries:
            out.append((ENTRY, e.fields(previous)))
            previous = e.raw_name
        for name, length, segments in self.files:
            fields = b"".join(map(segment_fields, segments))
            out.append((FILE, string(name) + varint(length) + varint(len(segments)) + fields))
        for place in sorted(self.odd, reverse=True):
            out.insert(place, self.odd[place])
        self.has_tables = self.has_tables and bank != b""
        if self.has_tables:
            out.append((TABLES, xor(bank, min(len(bank), 4096))))
        if self.parity:
            out.append((PARITY, xor(index_of(out), self.parity)))
        self.has_sums = self.has_sums and len(index_of(out)) > 4096
        if self.has_sums:
            out.append((SUMS, sums(index_of(out))))
        return out


def quoted(name, in_ascii=False):
    return json.dumps(name.decode(), ensure_ascii=in_ascii)[1:-1].encode()


def of_file(number):
    """What a text says where it names a file."""
    return -1 - number


def part_of(segment, first, until):
    """These bytes of a segment that is woven."""
    _, number, data = segment
    return "part", number, first, data[first:until]


def segment_fields(s):
    if isinstance(s, int):
        return varint(2 * s)
    if s[0] == "zeros":
        return varint(2 * s[1] + 1)
    if s[0] == "part":
        return varint(PART) + varint(s[1]) + varint(s[2]) + varint(len(s[3]))
    return varint(2 * (MOST_ZEROS + 1 + s[1]) + 1) + varint(len(s[2]))


def index_of(records):
    return b"".join(varint(tag) + varint(len(content)) + content for tag, content in records)


def sums(index):
    return b"".join(struct.pack("<I", zlib.crc32(index[i:i + 4096])) for i in range(0, len(index), 4096))


def close(front, records):
    """Header and data, with index and footer behind them."""
    index = index_of(records)
    footer = struct.pack("<QQI", len(front), len(front) + len(index) + 32, zlib.crc32(index))
    return front + index + footer + struct.pack("<I", zlib.crc32(footer)) + b"WCODEC\0\x01"


if __name__ == "__main__":
    import sys

    import wcodec_fuzz
    sys.exit(wcodec_fuzz.main())
