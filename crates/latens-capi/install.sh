#!/bin/sh
# Copies the built C library, its header and its pkg-config file to where compilers look for them.
#
#   cargo build --release -p latens-capi
#   sh crates/latens-capi/install.sh [--prefix DIR] [--destdir DIR] [--from DIR]
#
#   --prefix DIR   where it will be used: /usr/local
#   --destdir DIR  put in front of the prefix, for those who make packages
#   --from DIR     where liblatens_capi lies: target/release
set -eu

here=$(cd "$(dirname "$0")" && pwd)
prefix=/usr/local destdir= from=$here/../../target/release
while [ $# -gt 0 ]; do
    case $1 in
    --prefix) prefix=$2 ;;
    --destdir) destdir=$2 ;;
    --from) from=$2 ;;
    *) sed -n '2,9s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
    shift 2
done

version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../../Cargo.toml" | head -n 1)
# The upper half of LT_ABI_VERSION.
abi=$(sed -n 's/^#define LT_ABI_VERSION \([0-9]*\)$/\1/p' "$here/include/latens.h")
abi=$((abi / 65536))
# Before anything is written.
found=
for suffix in so dylib a; do
    if [ -f "$from/liblatens_capi.$suffix" ]; then found=1; fi
done
if [ -z "$found" ]; then
    echo "no liblatens_capi in $from: cargo build --release -p latens-capi" >&2
    exit 1
fi

lib=$destdir$prefix/lib
mkdir -p "$lib/pkgconfig" "$destdir$prefix/include"
cp "$here/include/latens.h" "$destdir$prefix/include/"
if [ -f "$from/liblatens_capi.so" ]; then
    cp "$from/liblatens_capi.so" "$lib/liblatens.so.$version"
    ln -sf "liblatens.so.$version" "$lib/liblatens.so.$abi"
    ln -sf "liblatens.so.$abi" "$lib/liblatens.so"
fi
if [ -f "$from/liblatens_capi.dylib" ]; then
    cp "$from/liblatens_capi.dylib" "$lib/liblatens.$abi.dylib"
    ln -sf "liblatens.$abi.dylib" "$lib/liblatens.dylib"
fi
if [ -f "$from/liblatens_capi.a" ]; then
    cp "$from/liblatens_capi.a" "$lib/liblatens.a"
fi

# What Rust's standard library needs (rustc --print native-static-libs).
case $(uname -s) in
Darwin) private='-liconv -lSystem -lc -lm' ;;
Linux) private='-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc' ;;
*) private='-lpthread -lm' ;;
esac
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" -e "s|@PRIVATE@|$private|" \
    "$here/latens.pc.in" >"$lib/pkgconfig/latens.pc"
echo "latens $version is in $destdir$prefix"
