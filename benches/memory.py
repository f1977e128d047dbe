#!/usr/bin/env python3
"""Peak resident size of the tool on inputs that are larger than it may hold.

    python3 benches/memory.py target/release/latens FOLDER [GIBIBYTES]

makes a patterned .npy of so many GiB (4) in FOLDER, which needs twice that on its disk, compresses,
verifies and decompresses it with one thread and with four, and prints what each took at most.
Exit code 1 where the streaming paths took more than 64 MiB and 13 MiB for each thread beyond one.
"""
import hashlib, os, resource, subprocess, sys, time

BAR, A_THREAD = 64 << 20, 13 << 20


def pattern(path, size):
    """A .npy of i64: a sawtooth with steps that do not repeat exactly, in pieces of 8 MiB."""
    piece = b"".join(((i * 50 + i * i % 17) % (1 << 40)).to_bytes(8, "little") for i in range(1 << 20))
    pieces = size // len(piece)
    shape = f"({pieces * len(piece) // 8},)"
    text = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}"
    text = text.ljust(128 - 10 - 1) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
        for _ in range(pieces):
            f.write(piece)


def run(what, command):
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{what} failed: {status}")
    peak = usage.ru_maxrss << 10
    print(f"{what}: {peak / 2**20:.1f} MiB, {time.monotonic() - start:.1f} s", flush=True)
    return peak


def digest(path):
    h = hashlib.blake2b()
    with open(path, "rb") as f:
        while piece := f.read(1 << 22):
            h.update(piece)
    return h.digest()


def main():
    tool, folder = sys.argv[1], sys.argv[2]
    size = int(float(sys.argv[3]) * 2**30) if len(sys.argv) > 3 else 4 << 30
    source, packed, back = (os.path.join(folder, n) for n in ("big.npy", "big.pco", "back.npy"))
    # In a process of its own: what a parent once held counts as held by its children.
    if os.fork() == 0:
        pattern(source, size)
        os._exit(0)
    if os.wait()[1]:
        sys.exit("the input was not written")
    size = os.path.getsize(source)
    print(f"{size} bytes")
    bad = []
    for threads in (1, 4):
        t = ["-q", "-T", str(threads)]
        bar = BAR + A_THREAD * (threads - 1)
        for what, command in (
            ("compress", [tool, "compress", "-f", *t, source, "-o", packed]),
            ("verify", [tool, "verify", *t, packed]),
            ("decompress", [tool, "decompress", "-f", *t, packed, "-o", back]),
        ):
            if run(f"{what}, {threads} threads", command) > bar:
                bad.append(f"{what} with {threads} threads took more than {bar >> 20} MiB")
    if digest(source) != digest(back):
        bad.append("another file comes back")
    for path in (source, packed, back):
        os.unlink(path)
    print("\n".join(bad) or "within the bar")
    sys.exit(bool(bad))


main()
