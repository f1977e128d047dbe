"""nvCOMP's ANS and zstd on weights like those of measure.rs: GB/s of decoded bytes, from compressed
bytes on the device. Lines of CSV: codec, bytes, stored bytes, seconds, GB/s."""

import time

import cupy
import numpy
from nvidia import nvcomp

COUNT = 1 << 30


def weights():
    random = numpy.random.default_rng(1)
    columns = numpy.exp(random.normal(size=4096) * 0.16) * 127 / 3.8
    rows = random.normal(size=(COUNT // 4096 // 16, 4096)) * columns
    some = numpy.clip(numpy.rint(rows), -127, 127).astype(numpy.int8)
    return numpy.tile(some, (16, 1)).reshape(-1).view(numpy.uint8)


def main():
    data = weights()
    device = cupy.asarray(data)
    print("codec,bytes,stored,seconds,gb_s")
    for algorithm in ["ANS", "Zstd"]:
        codec = nvcomp.Codec(algorithm=algorithm)
        encoded = codec.encode(nvcomp.as_array(device))
        best = float("inf")
        for _ in range(5):
            cupy.cuda.Device().synchronize()
            start = time.perf_counter()
            decoded = codec.decode(encoded)
            cupy.cuda.Device().synchronize()
            best = min(best, time.perf_counter() - start)
        assert (cupy.asarray(decoded).view(cupy.uint8) == device).all()
        stored = encoded.buffer_size
        print(f"nvcomp-{algorithm},{COUNT},{stored},{best:.4f},{COUNT / best / 1e9:.1f}")


main()
