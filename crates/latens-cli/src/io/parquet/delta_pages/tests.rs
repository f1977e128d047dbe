//! Pages of both versions, wide miniblocks, counts that do not agree.

use super::*;
use latens::delta_binary_packed::{Layout, encode};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::SchemaDescriptor;
use std::sync::Arc;

fn column(text: &str) -> ColumnDescPtr {
    let root = parse_message_type(&format!("message m {{ {text} a; }}")).unwrap();
    SchemaDescriptor::new(Arc::new(root)).column(0)
}

fn v1(values: &[u8], num_values: u32) -> Page {
    Page::DataPage {
        buf: Bytes::copy_from_slice(values),
        num_values,
        encoding: Encoding::DELTA_BINARY_PACKED,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    }
}

fn v2(values: &[u8], num_values: u32, num_nulls: u32, levels: u32) -> Page {
    Page::DataPageV2 {
        buf: Bytes::copy_from_slice(values),
        num_values,
        encoding: Encoding::DELTA_BINARY_PACKED,
        num_nulls,
        num_rows: num_values,
        def_levels_byte_len: levels,
        rep_levels_byte_len: 0,
        is_compressed: false,
        statistics: None,
    }
}

#[test]
fn pages_of_both_versions_keep_their_levels() {
    let numbers = [3i32, -4, 5];
    let stream = encode(&numbers, Layout::default_for::<i32>());
    let expected: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let page = plain(v1(&stream, 3), &column("required int32")).unwrap();
    assert_eq!((page.encoding(), &page.buffer()[..]), (Encoding::PLAIN, &expected[..]));
    let levels = [2, 0, 0, 0, 0xaa, 0xbb];
    let page = [&levels[..], &stream].concat();
    let page = plain(v1(&page, 4), &column("optional int32")).unwrap();
    assert_eq!(page.buffer()[..], [&levels[..], &expected].concat());
    let page = plain(v2(&[&[9, 9], &stream[..]].concat(), 5, 2, 2), &column("optional int32"));
    assert_eq!(page.unwrap().buffer()[..], [&[9, 9], &expected[..]].concat());
}

#[test]
fn wider_miniblocks_than_32_bits_are_read() {
    // Of 64-bit numbers whose differences do not fit in 32 bits, read as 32-bit ones.
    let wide = [0i64, i64::from(i32::MAX), i64::from(i32::MIN), 7];
    let stream = encode(&wide, Layout::default_for::<i64>());
    let page = plain(v1(&stream, 4), &column("required int32")).unwrap();
    let expected: Vec<u8> =
        [0, i32::MAX, i32::MIN, 7].iter().flat_map(|x: &i32| x.to_le_bytes()).collect();
    assert_eq!(page.buffer()[..], expected);
}

#[test]
fn counts_that_do_not_agree_are_errors() {
    let stream = encode(&[1i64, 2, 3], Layout::default_for::<i64>());
    let required = column("required int64");
    for (page, said) in [
        (v1(&stream, 2), "3 values"),
        (v1(&stream, 4), "promises 4"),
        (v2(&stream, 4, 2, 0), "promises 2"),
        (v1(&stream[..5], 3), "truncated"),
        (v2(&stream, 3, 0, 1000), "levels"),
    ] {
        let e = plain(page, &required).unwrap_err();
        assert!(e.to_string().contains(said), "{e}");
    }
    let e = plain(v1(&[255, 0, 0, 0], 3), &column("optional int64")).unwrap_err();
    assert!(e.to_string().contains("levels"), "{e}");
}
