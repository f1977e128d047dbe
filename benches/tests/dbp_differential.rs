//! DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY against the `parquet` crate:
//! the same bytes, and each reads what the other writes. Here and not beside the library, as the
//! crate's encoders pull in all of Arrow.
//!
//! ```sh
//! cargo test -p latens-benches
//! ```
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]

use bytes::Bytes;
use latens::Limits;
use latens::delta_binary_packed::{
    Layout, Options, decode, delta_byte_array, delta_length_byte_array, encode,
};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::encodings::decoding::{
    Decoder, DeltaBitPackDecoder, DeltaByteArrayDecoder, DeltaLengthByteArrayDecoder,
};
use parquet::encodings::encoding::{
    DeltaBitPackEncoder, DeltaByteArrayEncoder, DeltaLengthByteArrayEncoder, Encoder,
};
use proptest::prelude::*;

macro_rules! both_directions {
    ($name:ident, $t:ty, $parquet:ty) => {
        fn $name(values: &[$t], other: Layout) {
            let mut encoder = DeltaBitPackEncoder::<$parquet>::new();
            encoder.put(values).unwrap();
            let theirs = encoder.flush_buffer().unwrap();
            let ours = encode(values, Layout::default_for::<$t>());
            assert_eq!(ours, theirs, "the same bytes");
            let (read, consumed) =
                decode::<$t>(&theirs, &Limits::default(), Options::STRICT).unwrap();
            assert_eq!((&read[..], consumed), (values, theirs.len()));
            for layout in [Layout::default_for::<$t>(), other] {
                let mut decoder = DeltaBitPackDecoder::<$parquet>::new();
                let page = Bytes::from(encode(values, layout));
                decoder.set_data(page, values.len()).unwrap();
                let mut out = vec![<$t>::default(); values.len()];
                assert_eq!(decoder.get(&mut out).unwrap(), values.len());
                assert_eq!(out, values);
            }
        }
    };
}

both_directions!(both_i32, i32, Int32Type);
both_directions!(both_i64, i64, Int64Type);

fn shapes() -> impl Strategy<Value = Layout> {
    proptest::sample::select(&[(128, 1), (128, 4), (256, 4), (256, 8), (1024, 1), (2048, 8)][..])
        .prop_map(|(size, miniblocks)| Layout::new(size, miniblocks).unwrap())
}

fn numbers() -> impl Strategy<Value = Vec<i64>> {
    proptest::collection::vec((any::<i64>(), 0u32..64, any::<bool>()), 0..1200).prop_map(|parts| {
        let mut last = 0i64;
        parts
            .into_iter()
            .map(|(x, shift, far)| {
                last = if far { x >> shift } else { last.wrapping_add((x >> shift) % 1000) };
                last
            })
            .collect()
    })
}

#[test]
fn every_count_up_to_six_hundred() {
    let layout = Layout::new(256, 8).unwrap();
    for count in 0..600 {
        let values: Vec<i64> = (0..count).map(|i| i * i * 7919 % 1009).collect();
        both_i64(&values, layout);
        both_i32(&values.iter().map(|&v| v as i32).collect::<Vec<_>>(), layout);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn numbers_in_both_directions(values in numbers(), layout in shapes()) {
        both_i64(&values, layout);
        both_i32(&values.iter().map(|&v| v as i32).collect::<Vec<_>>(), layout);
    }

    #[test]
    fn strings_in_both_directions(strings in proptest::collection::vec("[ab]{0,6}[a-z]{0,12}", 1..300)) {
        let theirs: Vec<ByteArray> = strings.iter().map(|s| s.as_str().into()).collect();
        let limits = Limits::default();

        let mut encoder = DeltaLengthByteArrayEncoder::<ByteArrayType>::new();
        encoder.put(&theirs).unwrap();
        let page = encoder.flush_buffer().unwrap();
        let ours = delta_length_byte_array::encode(&strings).unwrap();
        prop_assert_eq!(&ours, &page.to_vec());
        let (read, consumed) = delta_length_byte_array::decode(&page, &limits, Options::STRICT).unwrap();
        prop_assert_eq!(consumed, page.len());
        prop_assert!(read.iter().eq(strings.iter().map(|s| s.as_bytes())));
        let mut decoder = DeltaLengthByteArrayDecoder::<ByteArrayType>::new();
        decoder.set_data(ours.into(), strings.len()).unwrap();
        let mut out = vec![ByteArray::new(); strings.len()];
        decoder.get(&mut out).unwrap();
        prop_assert_eq!(&out, &theirs);

        let mut encoder = DeltaByteArrayEncoder::<ByteArrayType>::new();
        encoder.put(&theirs).unwrap();
        let page = encoder.flush_buffer().unwrap();
        let ours = delta_byte_array::encode(&strings).unwrap();
        prop_assert_eq!(&ours, &page.to_vec());
        let (read, consumed) = delta_byte_array::decode(&page, &limits, Options::STRICT).unwrap();
        prop_assert_eq!(consumed, page.len());
        prop_assert!(read.iter().eq(strings.iter().map(|s| s.as_bytes())));
        let mut decoder = DeltaByteArrayDecoder::<ByteArrayType>::new();
        decoder.set_data(ours.into(), strings.len()).unwrap();
        let mut out = vec![ByteArray::new(); strings.len()];
        decoder.get(&mut out).unwrap();
        prop_assert_eq!(&out, &theirs);
    }
}
