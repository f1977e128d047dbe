#!/usr/bin/env python3
"""wcodec_decode.cuh to PTX, with NVRTC 12.9 (`pip install 'nvidia-cuda-nvrtc-cu12==12.9.*'`; no GPU is
needed).

    make_ptx.py            writes wcodec_decode.ptx
    make_ptx.py --check    exit code 1 where wcodec_decode.ptx is not what would be written

Exit code 2: there is no such NVRTC here.
"""

import ctypes
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE / "wcodec_decode.ptx"
OPTIONS = ["--gpu-architecture=compute_75", "--std=c++17", f"--include-path={HERE}"]
VERSION = (12, 9)


def library():
    """NVRTC, from the package or from where the system has it."""
    try:
        import nvidia.cuda_nvrtc as package

        found = sorted(pathlib.Path(package.__path__[0]).glob("lib/libnvrtc.so.*"))
        name = str(found[0])
    except (ImportError, IndexError):
        name = "libnvrtc.so.12"
    try:
        nvrtc = ctypes.CDLL(name)
    except OSError as error:
        return None, f"NVRTC cannot be loaded: {error}"
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    if (major.value, minor.value) != VERSION:
        return None, f"NVRTC here is {major.value}.{minor.value}, not 12.9"
    return nvrtc, ""


def compile_ptx(nvrtc):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    source = (HERE / "wcodec_decode.cuh").read_bytes()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"wcodec_decode.cuh", 0, None, None)
    options = (ctypes.c_char_p * len(OPTIONS))(*[o.encode() for o in OPTIONS])
    failed = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), options)
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if log.value.strip():
        print(log.value.decode(), file=sys.stderr)
    if failed:
        sys.exit("the kernels do not compile")
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    text = ptx.value.decode()
    # Which build of the compiler it was is not what the kernels are.
    text = re.sub(r"^// (Compiler Build ID|Cuda compilation tools).*\n", "", text, flags=re.M)
    assert str(HERE) not in text, "paths of this machine in the PTX"
    return text


def main():
    nvrtc, reason = library()
    if nvrtc is None:
        print(reason, file=sys.stderr)
        sys.exit(2)
    text = compile_ptx(nvrtc)
    if sys.argv[1:] == ["--check"]:
        if not TARGET.exists() or TARGET.read_text() != text:
            print(f"{TARGET.name} is not what the kernels compile to; run {pathlib.Path(__file__).name}")
            sys.exit(1)
        print(f"{TARGET.name} is current, {len(text)} bytes")
    else:
        TARGET.write_text(text)


main()
