//! DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY against the crate `parquet`, by
//! pages: the same bytes, and each reads what the other writes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_possible_truncation, reason = "a test")]

use bytes::Bytes;
use latens::Limits;
use latens::delta_binary_packed::{
    Layout, Options, decode, delta_byte_array, delta_length_byte_array, encode,
};
use latens_robustness::target::pages;
use parquet::basic::Encoding;
use parquet::column::page::Page;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use std::sync::Arc;

/// The one page that the crate writes.
fn page_of_parquet<T: DataType>(kind: &str, encoding: Encoding, values: &[T::T]) -> Bytes {
    let schema = parse_message_type(&format!("message m {{ required {kind} a; }}")).unwrap();
    let properties = WriterProperties::builder()
        .set_encoding(encoding)
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(usize::MAX)
        .set_write_batch_size(usize::MAX)
        .build();
    let mut writer =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    let file = Bytes::from(writer.into_inner().unwrap());
    let reader = SerializedFileReader::new(file).unwrap();
    let group = reader.get_row_group(0).unwrap();
    let mut pages: Vec<Page> =
        group.get_column_page_reader(0).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(pages.len(), 1, "one page");
    match pages.remove(0) {
        Page::DataPage { buf, encoding: written, .. } if written == encoding => buf,
        other => panic!("another page: {:?} of {:?}", other.page_type(), other.encoding()),
    }
}

macro_rules! both_directions {
    ($name:ident, $t:ty, $parquet:ty, $kind:literal) => {
        fn $name(values: &[$t], other: Layout) {
            let encoding = Encoding::DELTA_BINARY_PACKED;
            if !values.is_empty() {
                let theirs = page_of_parquet::<$parquet>($kind, encoding, values);
                let ours = encode(values, Layout::default_for::<$t>());
                assert_eq!(ours, theirs, "the same bytes");
            }
            for layout in [Layout::default_for::<$t>(), other] {
                let page = encode(values, layout);
                let theirs = pages::read::<$parquet>($kind, encoding, &page, values.len());
                assert_eq!(theirs.as_deref(), Some(values));
                let (read, consumed) =
                    decode::<$t>(&page, Limits::default(), Options::STRICT).unwrap();
                assert_eq!((&read[..], consumed), (values, page.len()));
            }
        }
    };
}

both_directions!(both_i32, i32, Int32Type, "int32");
both_directions!(both_i64, i64, Int64Type, "int64");

/// The page that the crate writes, and what it reads of ours.
fn strings_through_parquet(encoding: Encoding, strings: &[String], ours: &[u8]) -> Bytes {
    let theirs: Vec<ByteArray> = strings.iter().map(|s| s.as_str().into()).collect();
    let read = pages::read::<ByteArrayType>("binary", encoding, ours, strings.len());
    assert_eq!(read, Some(theirs.clone()));
    page_of_parquet::<ByteArrayType>("binary", encoding, &theirs)
}

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
        let limits = Limits::default();

        let ours = delta_length_byte_array::encode(&strings).unwrap();
        let page = strings_through_parquet(Encoding::DELTA_LENGTH_BYTE_ARRAY, &strings, &ours);
        prop_assert_eq!(&ours, &page.to_vec());
        let (read, consumed) = delta_length_byte_array::decode(&page, limits, Options::STRICT).unwrap();
        prop_assert_eq!(consumed, page.len());
        prop_assert!(read.iter().eq(strings.iter().map(|s| s.as_bytes())));

        let ours = delta_byte_array::encode(&strings).unwrap();
        let page = strings_through_parquet(Encoding::DELTA_BYTE_ARRAY, &strings, &ours);
        prop_assert_eq!(&ours, &page.to_vec());
        let (read, consumed) = delta_byte_array::decode(&page, limits, Options::STRICT).unwrap();
        prop_assert_eq!(consumed, page.len());
        prop_assert!(read.iter().eq(strings.iter().map(|s| s.as_bytes())));
    }
}
