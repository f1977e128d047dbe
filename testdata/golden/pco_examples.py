#!/usr/bin/env python3
"""The byte examples of specs/pco.md: makes them, and checks that they say what they claim.

    pco_examples.py write            print every example as an annotated hex block
    pco_examples.py check SPEC.md    decode every hex block, with the package `pcodec` too if installed
"""
import re
import sys

from pco_writer import *


def parse_number(ty, text):
    if text.startswith("0x"):
        return int(text, 16)  # the bits themselves
    return float_bits(ty, float(text)) if ty[0] == "f" else int(text) & ((1 << width(ty)) - 1)


def parse_values(ty, text):
    out = []
    for item in filter(None, text.split(",")):
        value, _, times = item.partition("*")
        out += [parse_number(ty, value)] * int(times or 1)
    return out


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


EXAMPLES = {}


def example(name, ty, values, chunks=(), reader="both", header=None, after=None, trailer=0):
    """chunks: write_chunk's keywords, one dict each, with `n` numbers where there are several. trailer=1: a wrong one."""
    w, numbers, at = Writer(), parse_values(ty, values) if ty else [], 0
    header = dict(dict(standalone=3, major=4, n_hint=len(numbers)), **(header or {}))
    write_header(w, **header)
    header_end, table = w.pos // 8, []
    for chunk in chunks:
        chunk, start = dict(chunk), w.pos // 8
        part = numbers[at:at + chunk.pop("n", len(numbers))]
        at += len(part)
        write_chunk(w, header["major"], ty, part, chunk.pop("bins"), **chunk)
        raw = b"".join(x.to_bytes(width(ty) // 8, "little") for x in part)
        table.append((w.pos // 8 - start, len(part), crc32c(w.bytes()[start:]), crc32c(raw)))
    w.put(0, 8, "end")
    if trailer:
        begin, data = w.pos // 8, w.bytes()
        for row in table:
            for value, name_ in zip(row, ("bytes", "count", "stored_crc", "number_crc")):
                w.put(value ^ (trailer == 1 and name_ == "number_crc"), 32, name_)
        w.put(crc32c(data[:header_end]), 32, "header_crc")
        w.put(len(table), 32, "chunk_count")
        w.put(crc32c(w.bytes()[begin:]), 32, "table_crc")
        w.put(int.from_bytes(b"LATENSC1", "little"), 64, "magic")
    for value, nbits, name_ in after or []:
        w.put(value, nbits, name_)
    lines = f"# type={ty or 'none'} values={values} reader={reader}\n" + w.annotated()
    EXAMPLES[name] = f"```hex {name}\n{lines}\n```"


F32, F64 = (lambda x: ordered("f32", float_bits("f32", x))), (lambda x: ordered("f64", float_bits("f64", x)))
M32, M64 = 1 << 31, 1 << 63
ONE_BIN = [[(1, 7, 0)]]

example("empty", "u32", "", header=dict(uniform="u32"))
example("empty-format-0", None, "", header=dict(standalone=0, major=0))
example("constant", "u32", "7*3", [dict(bins=ONE_BIN)])
example("standalone-2-format-3", "u32", "100,103,101,100", [dict(bins=[[(1, 100, 2)]])],
        header=dict(standalone=2, major=3))
example("format-0-order-1", "i32", "-3,0,3,7,10", header=dict(standalone=0, major=0), chunks=[
    dict(delta=1, states=1, bins=[[(1, M32 + 3, 1)]])])
example("newer-minor", "u32", "7*3", [dict(bins=ONE_BIN)], header=dict(minor=9))
example("format-4-0", "u32", "100,103,101,100", [dict(bins=[[(1, 100, 2)]])],
        header=dict(standalone=2, major=4, minor=0))
example("format-1-int-mult", "u64", "0,5,20,25", header=dict(standalone=1, major=1), chunks=[
    dict(mode=INT_MULT, par=5, delta=1, states=1, bins=[[(1, M64 + 1, 2)], [(1, 0, 0)]])])
example("no-bins", "i64", "42", [dict(delta=1, states=1, bins=[[]])])
example("two-chunks", "u32", "7*3,1000,1001", [dict(n=3, bins=ONE_BIN), dict(n=2, bins=[[(1, 1000, 1)]])],
        header=dict(uniform="u32"))
example("tans", "u32", "0,3,500,1,2,0,501,70000,3,1", [
    dict(bins=[[(5, 0, 2), (2, 500, 1), (1, 70000, 0)]])])
example("two-batches", "u8", "0*255,9,0,10,0*2", [dict(bins=[[(7, 0, 0), (1, 9, 1)]])])
example("int-mult", "i32", "-2000,1000,0,3005", [
    dict(mode=INT_MULT, par=1000, bins=[[(1, 2147481, 3)], [(3, 648, 0), (1, 653, 0)]])])
example("float-mult", "f64", "0.1,0.2,0.30000000000000004,0.3,-0.7,-0.0", [
    dict(mode=FLOAT_MULT, par=F64(0.1), bins=[[(1, M64 - 8, 4)], [(1, M64 - 1, 2)]])])
example("float-mult-nan", "f32", "1.5,-0.5,inf,0x7fc00001,0xff800002", [
    dict(mode=FLOAT_MULT, par=F32(0.5), bins=[
        [(2, M32 - 2, 3), (1, 0xB5000000, 23), (1, 0x4AFFFFFD, 0)],
        [(3, M32, 0), (1, M32 + (1 << 22), 0)]])])
example("float-quant", "f32", "1.5,-2.25,0.75,0x3f800001,-0.0", [
    dict(mode=FLOAT_QUANT, par=13, bins=[[(1, 0x1FF00, 19)], [(3, 0, 0), (1, 1, 0)]])])
example("dict", "i16", "-5,300,-5,-5,7,300,-5", [
    dict(mode=DICT, par=[ordered("i16", x & 0xFFFF) for x in (300, -5, 7)], bins=[[(1, 0, 0), (2, 1, 0), (1, 2, 0)]])])
example("consecutive-2", "i64", "1,3,5,17,29", [dict(delta=1, states=2, bins=[[(1, M64, 0), (1, M64 + 10, 0)]])])
example("consecutive-secondary", "u32", "1000,2001,3002,4003,5004", [
    dict(mode=INT_MULT, par=1000, delta=1, states=1, second=True, bins=[[(1, M32 + 1, 0)], [(1, M32 + 1, 0)]])])
example("lookback", "u16", "10,20,30,10,20,31,5", [
    dict(delta=2, dpar=(4,), states=2, lookbacks=[1, 3, 3, 3, 16],
         bins=[[(1, 3, 0), (1, 1, 4)], [(1, 1 << 15, 1), (1, (1 << 15) + 4, 3)]])])
example("conv1", "u8", "10,3,0,0,5,11,17,22", [
    dict(delta=3, dpar=(1, 1, [-2, 4]), states=2, bins=[[(1, 127, 1), (1, 128, 3)]])])
example("checksum-trailer", "u32", "7*3,1000,1001", header=dict(uniform="u32"), trailer=2, chunks=[
    dict(n=3, bins=ONE_BIN), dict(n=2, bins=[[(1, 1000, 1)]])])

# accepted by pco 1.1.0, refused by latens (the numbers are what pco 1.1.0 makes of them)
example("reject-trailing-byte", "u32", "7*3", [dict(bins=ONE_BIN)], "pco", after=[(0x2A, 8, "stray")])
example("reject-trailer-number-crc", "u32", "7*3", [dict(bins=ONE_BIN)], "pco", trailer=1)
example("reject-int-mult-remainder", "u32", "25", [
    dict(mode=INT_MULT, par=10, latents=([1], [15]), bins=[[(1, 1, 0)], [(1, 15, 0)]])], "pco")
example("reject-float-mult-multiplier", "f32", "-0.0", [
    dict(mode=FLOAT_MULT, par=F32(1.0), latents=([M32 + 0x35800000], [M32]),
         bins=[[(1, M32 + 0x35800000, 0)], [(1, M32, 0)]])], "pco")
example("reject-float-quant-low", "f32", "0x00000009", [
    dict(mode=FLOAT_QUANT, par=3, latents=([1 << 28], [9]), bins=[[(1, 1 << 28, 0)], [(1, 9, 0)]])], "pco")
example("reject-float-quant-high", "f16", "0x81b9", [
    dict(mode=FLOAT_QUANT, par=1, latents=([0x80DC], [1]), bins=[[(1, 0x80DC, 0)], [(1, 1, 0)]])], "pco")
example("reject-lookback-zero", "u32", "5,5,0", [
    dict(delta=2, dpar=(4,), states=1, lookbacks=[1, 0], latents=([5, 5, 5], None),
         bins=[[(1, 1, 0), (1, 1, 32)], [(1, M32, 0)]])], "pco")

# refused by both
example("reject-format-0-gcd", "u64", "0", header=dict(standalone=0, major=0), reader="none", chunks=[
    dict(mode=INT_MULT, par=5, bins=[[(1, 0, 0)], [(1, 0, 0)]])])
example("reject-uniform-type", "u32", "7*3", [dict(bins=ONE_BIN)], "none", header=dict(uniform="u64"))



def check(path):
    try:
        from pcodec import standalone
    except ImportError:
        standalone = None
        print("the package pcodec is not installed: only the reader here is compared with")
    bad = seen = 0
    for name, block in re.findall(r"^```hex (\S+)\n(.*?)^```", open(path, encoding="utf-8").read(), re.M | re.S):
        fields = dict(item.split("=", 1) for item in block.split("\n")[0][2:].split())
        data = bytes.fromhex("".join(line.split(";")[0] for line in block.split("\n")[1:]))
        ty, reader = fields["type"], fields["reader"]
        want = [] if ty == "none" else parse_values(ty, fields["values"])
        results = {}
        try:
            got = decode(data)
            results["here"] = (got[0] or "none", got[1]) == (ty, want)
        except Corrupt:
            results["here"] = None
        if standalone:
            try:
                got = standalone.simple_decompress(data)
                raw = b"".join(x.to_bytes(width(ty) // 8, "little") for x in want) if want else b""
                results["pcodec"] = (b"" if got is None else got.tobytes()) == raw
            except RuntimeError:
                results["pcodec"] = None
        # bytes after the terminator are the caller's matter, not decode's
        expect = dict(here=None if reader == "none" or (reader == "pco" and "trail" not in name) else True,
                      pcodec=None if reader == "none" else True)
        good = all(results[k] is expect[k] for k in results)
        if EXAMPLES.get(name) != f"```hex {name}\n{block}```":
            good, results["text"] = False, "differs from what this script writes"
        seen, bad = seen + 1, bad + (not good)
        print("ok " if good else "BAD", name, results)
    print(f"{seen} examples, {bad} bad")
    return 1 if bad or not seen else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        sys.exit(check(sys.argv[2]))
    print("\n\n".join(EXAMPLES.values()))
