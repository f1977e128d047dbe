"""Random valid files by wcodec_writer.py, read by the tool, which must find the model hash in each, and bring back the
source files where segments are woven."""
import argparse
import collections
import pathlib
import subprocess
import tempfile
import unicodedata

from make_wcodec_foreign import safetensors
from wcodec_encode import string, varint
from wcodec_fuzz_parts import Draw, random_coding, random_words
from wcodec_reader import BLOB, COPY, ENDING, PARITIES, QUANTIZATION, RAW_VIEW, TENSOR
from wcodec_views import BLOCKS, BYTES, FLOAT_WORDS, SYMBOLS, WORDS, layout, matrix_of, words_together
from wcodec_writer import of_file, part_of, quoted, raw

# What must be there in each hundred of files, or it is not drawn.
KINDS = [
    "DIRECT", "BITPLANE", "RAW", "PCO", "RECUT", "PAIRS", "PREDICT", "TRANSFORM", "CLASSES", "ORDER", "STACKED",
    "ESCAPES", "COMPACT", "2 bits", "3 bits", "4 bits", "5 bits", "6 bits", "8 bits", "words", "bytes",
    "nearby", "COLUMN", "REFERENCE", "LINEAR", "of tiles",
    "source", "source in the base", "source within the tensor", "zero source", "row map", "row map in the base",
    "reference", "reference in the base", "reference within the tensor",
    "plain", "blob", "copy", "copy named", "base", "file", "woven", "woven part", "quoted", "ascii", "part", "named file",
    "odd record", "QUANTIZATION", "TABLES", "PARITY", "SUMS"]


def random_shape(rng):
    """Type, shape, view and bytes of a tensor."""
    kind = rng.choice(["packed"] * 9 + ["blocks"] * 5 + ["floats"] * 2 + ["words", "bytes", "bytes"])
    if kind == "blocks":
        number = rng.choice(list(BLOCKS))
        dtype, size, elements, _ = BLOCKS[number]
        shape = [rng.randint(1, 12 if elements == 32 else 4), elements * rng.choice([1, 1, 2, 3])]
        return dtype, shape, bytes([5, number, 0, 0, 0, 0, 0, 0]), shape[0] * shape[1] // elements * size
    if kind == "words":
        width, order = rng.choice([1, 2, 4, 8]), rng.randrange(4)
        order = 0 if width == 1 and order == 1 else order
        dtype = rng.choice({1: ["U8", "I8"], 2: ["F16", "BF16", "I16"], 4: ["F32", "U32"], 8: ["F64", "I64"]}[width])
        shape = [rng.randint(1, 20), rng.randint(1, 30)]
        return dtype, shape, bytes([3, width, order, 0, 0, 0, 0, 0]), shape[0] * shape[1] * width
    if kind == "bytes":
        length = rng.randint(1, 600)
        return rng.choice(["U8", "BOOL", "ODD"]), [length], RAW_VIEW, length
    if kind == "floats":
        width, shape = rng.choice([2, 4, 8]), [rng.randint(1, 30), rng.randint(1, 40)]
        dtype = {2: "BF16", 4: "F32", 8: "F64"}[width]
        return dtype, shape, bytes([4, width, 0, 0, 0, 0, 0, 0]), shape[0] * shape[1] * width
    bits = rng.choice([2, 2, 3, 3, 4, 4, 4, 5, 6, 8, 8, 8])
    together = words_together(bits)
    most = (100, 300) if bits < 8 and rng.random() < 0.1 else (30, 40)
    below = together > 1 and rng.random() < 0.5
    rows, cols = rng.randint(1, most[0]), rng.randint(1, max(1, most[1] * bits // 8))
    shape = [-(-rows // together) * together, cols] if below else [rows, -(-cols // together) * together]
    return "U8", shape, bytes([2, bits, 1, 12 if below else 8, 0, 0, 0, 0]), shape[0] * shape[1]


def random_tensor(draw, name):
    """Its number; what it is called."""
    dtype, shape, view, length = random_shape(draw.rng)
    assert len(shape) == 1 or matrix_of(shape) == tuple(shape)
    parts, codings, own, tags = layout(view, dtype, shape, length), [], [], []
    room = 16 // sum(part.bits is not None for part in parts) if any(part.bits for part in parts) else 0
    for number, part in enumerate(parts):
        draw.count({SYMBOLS: f"{part.bits} bits", WORDS: "words", FLOAT_WORDS: "words", BYTES: "bytes"}[part.kind])
        names = False
        if part.kind in (WORDS, FLOAT_WORDS):
            code, tag = random_words(draw, part)
        elif draw.chance(0.05):
            code, tag = raw(group=draw.rng.randint(1, part.count + 3)), "RAW"
        else:
            code, tag, names = random_coding(draw, part.bits, part.rows, part.cols, room, own, part.kind == BYTES)
        draw.count(*tag.split())
        codings.append(code)
        tags.append(tag)
        own += [] if names else [(number, part)]
    draw.builder.tensor(name, dtype, shape, view, *codings, storage=draw.storage(), length=length)
    return tags


def random_text(draw, name):
    """A segment that is woven of a new entry, and parts of it."""
    builder, rng = draw.builder, draw.rng
    tensors = [number for number, entry in enumerate(builder.entries) if entry.kind == TENSOR]
    files = [of_file(number) for number, _ in enumerate(builder.file_names)]
    marker, pieces = rng.randrange(256), []
    for _ in range(rng.randint(0, 12)):
        data = rng.choice([draw.data(rng.randint(0, 40)), bytes([marker]) * rng.randint(1, 3)])
        number = rng.choice(files if files and draw.chance(0.3) else tensors)
        length = len(builder.name(number))
        first = rng.randrange(length)
        part = "part", number, first, rng.choice([1, length - first, rng.randint(1, length - first)])
        pieces.append(rng.choice([data, number, ("quoted", number), ("ascii", number), part]))
    written = [(piece[0], builder.name(piece[1])) for piece in pieces if isinstance(piece, tuple)]
    draw.count(*["quoted"] * any(form == "quoted" and quoted(n) != n for form, n in written))
    draw.count(*["ascii"] * any(form == "ascii" and quoted(n, in_ascii=True) != quoted(n) for form, n in written))
    draw.count(*["part"] * any(form == "part" for form, _ in written))
    numbers = [piece[1] if isinstance(piece, tuple) else piece for piece in pieces if not isinstance(piece, bytes)]
    draw.count(*["named file"] * any(number < 0 for number in numbers))
    text, data = builder.text(marker, *pieces, zeros=rng.choice([0, 0, 1, 7, 255]))
    if draw.chance(0.5):
        number = builder.plain("", "", [], text, draw.storage(), BLOB)
    else:
        code = raw(list(text), rng.randint(1, len(text) + 3))
        number = builder.tensor(name, "U8", [len(text)], RAW_VIEW, code, length=len(text), storage=draw.storage())
    woven = "woven", draw.copy_of(number) if draw.chance(0.2) else number, data
    places = [0, len(data), *(rng.randint(0, len(data)) for _ in range(4))]
    return [woven] + [part_of(woven, *sorted(rng.choices(places, k=2))) for _ in range(rng.randint(0, 4))]


def random_names(draw):
    """Of files, which are bare, and which the tool takes: it writes none with control characters."""
    names = draw.rng.sample(["model.safetensors", "ä b", "..."], draw.rng.choice([0, 0, 1, 2]))
    fits = lambda c: c not in "/\\:" and unicodedata.category(c) != "Cc"  # noqa: E731
    return ["".join(filter(fits, draw.name(name))) for name in names]


def random_ancillary(draw):
    """Records that a reader may skip, where they may stand."""
    builder, rng = draw.builder, draw.rng
    known = 2 + (builder.base is not None) + len(builder.entries) + len(builder.files)
    for _ in range(rng.choice([0, 0, 1, 3])):
        tag = rng.choice([1, 3, 11, 21, 127, 129, rng.randrange(1 << rng.randint(6, 63)) | 1])
        if tag not in (QUANTIZATION, *ENDING):
            builder.odd[rng.randint(0, known + 2)] = tag, draw.data(rng.choice([0, 1, 40, 300]))
            draw.count("odd record")
    if draw.chance(0.2):
        texts = b"".join(string(rng.choice(["", "gptq", "ä" * 127, "x" * 255])) for _ in range(2))
        numbers = b"".join(varint(rng.choice([0, 4, 128, (1 << 64) - 1])) for _ in range(2))
        builder.odd[known] = QUANTIZATION, texts + numbers
        draw.count("QUANTIZATION")
    builder.has_tables = draw.chance(0.5)
    builder.parity = rng.choice([0, *PARITIES])
    builder.has_sums = draw.chance(0.6)


def kinds_of_segments(file):
    """Those that are told apart from others."""
    kinds = {s[0] for s in file[2] if isinstance(s, tuple)}
    return [{"woven": "woven", "part": "woven part"}[kind] for kind in kinds - {"zeros"}]


def random_file(seed):
    """A draw of a file of some tensors, what is within, and its bytes."""
    draw, tags = Draw(seed), []
    builder, rng = draw.builder, draw.rng
    draw.count(*["base"] * (builder.base is not None))
    for i in range(rng.randint(1, 3)):
        if draw.chance(0.15):
            data = draw.data(rng.randint(1, 300))
            builder.plain(draw.name(f"plain {i}"), "U8", [len(data)], data, draw.storage())
            draw.count("plain")
        tags += random_tensor(draw, draw.name(f"tensor {i}"))
        if draw.chance(0.2):
            builder.blob(draw.data(rng.randint(0, 200)))
            draw.count("blob")
        originals = [number for number, entry in enumerate(builder.entries) if entry.storage != COPY]
        if draw.chance(0.3):
            draw.copy_of(rng.choice(originals))
    builder.file_names = random_names(draw)
    texts = [random_text(draw, draw.name(f"text {i}")) for i in range(rng.choice([0, 0, 1, 2]))]
    woven = [segment for segments in texts for segment in segments]
    for name in builder.file_names:
        segments = list(range(len(builder.entries))) + [("zeros", n) for n in (1, 2, 64, 4096)]
        builder.file(name, *rng.choices(segments + woven * 4, k=rng.randint(0, 8)))
        draw.count("file", *kinds_of_segments(builder.files[-1]))
    random_ancillary(draw)
    data = builder.finish(known=draw.chance(0.5), quantisation=rng.randrange(3))
    told = {"TABLES": builder.has_tables, "PARITY": builder.parity, "SUMS": builder.has_sums}
    draw.count(*[name for name, there in told.items() if there])
    return draw, tags, data


def wrong_by(tool, file, draw):
    """What is wrong with a file, as the tool says, or with what comes out."""
    run = subprocess.run([tool, "verify", *file], capture_output=True, text=True)
    if run.returncode or not (draw.drawn["woven"] or draw.drawn["woven part"]):
        return run.returncode and (run.stderr.strip() or run.stdout.strip())
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([tool, "decompress", "-q", *file, "-o", f"{folder}/"], capture_output=True, text=True)
        if run.returncode:
            return run.stderr.strip()
        names = [name for name, _, _ in draw.builder.files]
        other = [name for i, name in enumerate(names) if pathlib.Path(folder, name).read_bytes() != draw.builder.content(i)]
        return other and f"{other} do not come back"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["fuzz"])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for files that the tool refuses, and their bases")
    arguments, failed, tagged, drawn = parser.parse_args(), 0, collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        path, base = pathlib.Path(folder, "random.wcodec"), pathlib.Path(folder, "base.safetensors")
        for case in range(arguments.cases):
            seed = arguments.seed * 1_000_000 + case
            draw, tags, data = random_file(seed)
            path.write_bytes(data)
            against = []
            if draw.builder.base is not None:
                base.write_bytes(safetensors(draw.builder.base))
                against = ["--base", base]
            wrong = wrong_by(arguments.tool, [*against, path], draw)
            tagged.update(tags)
            drawn.update(draw.drawn)
            if wrong:
                failed += 1
                print(f"seed {seed}: {', '.join(tags)}: {wrong}", flush=True)
                for made in (path, base) if arguments.keep else ():
                    if made.exists():
                        (arguments.keep / f"{seed}{made.suffix}").write_bytes(made.read_bytes())
    print("drawn: " + ", ".join(f"{kind} {drawn[kind]}" for kind in KINDS))
    print(f"{arguments.cases} files, {sum(tagged.values())} parts of {len(tagged)} kinds, {failed} failed")
    never = [kind for kind in KINDS if not drawn[kind]] if arguments.cases >= 100 else []
    if never:
        print(f"never drawn: {', '.join(never)}")
    return failed > 0 or bool(never)
