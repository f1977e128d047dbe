//! probe
use parquet::basic::Encoding;
use parquet::data_type::{Int32Type, Int64Type};
use parquet::encodings::decoding::{Decoder, DeltaBitPackDecoder};
use parquet::encodings::encoding::{DeltaBitPackEncoder, Encoder};

fn main() {
    let v: Vec<i64> = (0..300).map(|i| i * 3 + i % 7).collect();
    let mut e = DeltaBitPackEncoder::<Int64Type>::new();
    e.put(&v).unwrap();
    let b = e.flush_buffer().unwrap();
    println!("{:?} {:?}", e.encoding() == Encoding::DELTA_BINARY_PACKED, &b[..]);
    let mut d = DeltaBitPackDecoder::<Int64Type>::new();
    d.set_data(b, v.len()).unwrap();
    let mut out = vec![0i64; v.len()];
    let n = d.get(&mut out).unwrap();
    assert_eq!(n, v.len());
    assert_eq!(out, v);
    let mut e = DeltaBitPackEncoder::<Int32Type>::new();
    for n in [0, 1, 2, 33, 129, 130] {
        e.put(&(0..n).collect::<Vec<i32>>()).unwrap();
        println!("{n} {:?}", &e.flush_buffer().unwrap()[..]);
    }
}
