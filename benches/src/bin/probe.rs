//! probe
use latens::delta_binary_packed::*;
use latens_kernels::dispatch::Simd;
use std::hint::black_box;
fn main() {
    let which = std::env::args().nth(1).unwrap();
    let bits: u32 = std::env::args().nth(2).unwrap().parse().unwrap();
    let mut s = 88172645463325252u64;
    let mut v = 0i64;
    let vals: Vec<i64> = (0..1 << 16)
        .map(|_| {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            v = v.wrapping_add((s >> (64 - bits)) as i64);
            v
        })
        .collect();
    let vals32: Vec<i32> = vals.iter().map(|&v| v as i32).collect();
    let p = encode(&vals, Layout::default_for::<i64>());
    let p32 = encode(&vals32, Layout::default_for::<i32>());
    let mut o = vec![0i64; vals.len()];
    let mut o32 = vec![0i32; vals.len()];
    let mut e = Vec::with_capacity(1 << 20);
    let simd = if which.ends_with('s') { Simd::Scalar } else { Simd::Avx2 };
    let t = std::time::Instant::now();
    for _ in 0..20000 {
        match &which[..3] {
            "d64" => {
                Decoder::<i64>::new(&p, Options::default())
                    .unwrap()
                    .with_simd(simd)
                    .read(black_box(&mut o))
                    .unwrap();
            }
            "d32" => {
                Decoder::<i32>::new(&p32, Options::default())
                    .unwrap()
                    .with_simd(simd)
                    .read(black_box(&mut o32))
                    .unwrap();
            }
            "e64" => {
                e.clear();
                encode_into(black_box(&vals), Layout::default_for::<i64>(), &mut e);
            }
            _ => {
                e.clear();
                encode_into(black_box(&vals32), Layout::default_for::<i32>(), &mut e);
            }
        }
    }
    let d = t.elapsed().as_secs_f64() / 20000.0;
    println!("{which} {bits}: {:.2} ns/value", d * 1e9 / 65536.0);
}
