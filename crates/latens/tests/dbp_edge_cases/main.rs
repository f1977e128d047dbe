//! The edge cases of DELTA_BINARY_PACKED that readers stumble over, each row of the table in
//! `specs/delta-binary-packed.md` a test.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../dbp_common/mod.rs"]
mod dbp_common;
mod headers;
mod strings;

use dbp_common::Page;
use latens::delta_binary_packed::{
    Decoder, Element, Layout, Options, decode, decode_into, encode, header, inspect,
};
use latens::{Error, ErrorKind, Limits};

fn lenient<T: Element>(bytes: &[u8]) -> latens::Result<(Vec<T>, usize)> {
    decode(bytes, Limits::default(), Options::default())
}

fn strict<T: Element>(bytes: &[u8]) -> latens::Result<(Vec<T>, usize)> {
    decode(bytes, Limits::default(), Options::STRICT)
}

fn is(error: &Error, kind: ErrorKind, at: usize) {
    assert_eq!((error.kind(), error.at()), (kind, Some(at as u64)), "{error}");
}

/// 33 values with one field set in a miniblock of `width` bits; the other three are not needed.
fn one_miniblock(first: i64, min: i64, width: u8, field: u64) -> Vec<u8> {
    let mut fields = [0; 32];
    fields[0] = field;
    Page::new(128, 4, 33, first).block(min, &[width, 0, 0, 0], &[&fields]).bytes
}

#[test]
fn int32_in_a_wider_domain_reads_leniently_and_is_refused_strictly() {
    // From i32::MIN to i32::MAX and down again: 33 bits where differences do not wrap.
    let mut fields = [0u64; 32];
    fields[0] = (1 << 33) - 2;
    fields[1] = 0;
    let down = i64::from(i32::MIN) - i64::from(i32::MAX);
    let page = Page::new(128, 4, 33, i32::MIN.into()).block(down, &[33, 0, 0, 0], &[&fields]).bytes;
    let (values, consumed) = lenient::<i32>(&page).unwrap();
    assert_eq!((&values[..3], consumed), (&[i32::MIN, i32::MAX, i32::MIN][..], page.len()));
    let error = strict::<i32>(&page).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(strict::<i64>(&page).unwrap().0[1], i64::from(i32::MAX));

    for width in 34..=64 {
        let page = one_miniblock(5, 0, width, (1 << 33) + 1);
        assert_eq!(lenient::<i32>(&page).unwrap().0[1], 6);
        is(&strict::<i32>(&page).unwrap_err(), ErrorKind::Corrupt, 6);
    }
    // The first value and the minimum count mod 2^32 as well.
    let page = one_miniblock((1 << 40) + 7, (1 << 50) + 1, 0, 0);
    assert_eq!(lenient::<u32>(&page).unwrap().0[..3], [7, 8, 9]);
    is(&strict::<u32>(&page).unwrap_err(), ErrorKind::Corrupt, 4);
}

#[test]
fn our_writer_never_takes_more_bits_than_the_type_has() {
    let values: Vec<i32> = (0..257).map(|i| if i % 2 == 0 { i32::MIN } else { i32::MAX }).collect();
    let page = encode(&values, Layout::default_for::<i32>());
    assert!(inspect(&page).unwrap().widths.iter().all(|&w| w <= 32));
    assert_eq!(strict::<i32>(&page).unwrap().0, values);
}

#[test]
fn a_width_above_64_of_a_needed_miniblock_is_an_error() {
    for width in 65..=255 {
        let mut page = Page::new(128, 4, 33, 5).block(0, &[width, 0, 0, 0], &[]).bytes;
        page.resize(page.len() + 32 * 256 / 8, 0);
        is(&lenient::<i64>(&page).unwrap_err(), ErrorKind::Corrupt, 6);
        is(&lenient::<i32>(&page).unwrap_err(), ErrorKind::Corrupt, 6);
        assert!(inspect(&page).is_err());
    }
}

#[test]
fn the_minimum_need_not_be_the_least_difference() {
    let fields: Vec<u64> = (0..32).map(|i| 1000 + i).collect();
    let page = Page::new(128, 4, 33, 0).block(-1000, &[11, 0, 0, 0], &[&fields]).bytes;
    assert_eq!(strict::<i64>(&page).unwrap().0[..4], [0, 0, 1, 3]);
}

#[test]
fn width_zero_is_a_ramp_without_a_body() {
    let page = Page::new(128, 4, 300, 10)
        .block(-3, &[0, 0, 0, 0], &[])
        .block(5, &[0, 0, 0, 0], &[])
        .block(0, &[0, 0, 0, 0], &[])
        .bytes;
    let (values, consumed) = strict::<i32>(&page).unwrap();
    assert_eq!((values.len(), consumed), (300, page.len()));
    assert_eq!((values[1], values[128], values[129], values[256]), (7, -374, -369, 266));
    assert_eq!(values[299], 266);
}

#[test]
fn zero_values_are_a_header_alone_or_nothing() {
    let page = encode::<i64>(&[], Layout::default_for::<i64>());
    assert_eq!(page, [0x80, 0x02, 4, 0, 0]);
    assert_eq!(strict::<i64>(&page).unwrap(), (vec![], 5));
    assert_eq!(strict::<i32>(&[]).unwrap(), (vec![], 0));
    assert_eq!(header(&[]).unwrap().total_count, 0);
    assert_eq!(inspect(&[]).unwrap().consumed, 0);
}

#[test]
fn one_value_has_no_block() {
    let mut page = encode(&[-7i32], Layout::default_for::<i32>());
    assert_eq!(page, [0x80, 0x01, 4, 1, 13]);
    page.push(0xff);
    assert_eq!(strict::<i32>(&page).unwrap(), (vec![-7], 5));
}

#[test]
fn a_count_above_the_buffer_is_an_error_that_names_both() {
    let page = encode(&[1i32; 300], Layout::default_for::<i32>());
    let mut out = [9; 299];
    let error = decode_into(&page, &mut out, Options::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.what().contains("300") && error.what().contains("299"), "{error}");
    assert_eq!(out, [9; 299]);
}

#[test]
fn a_count_other_than_the_page_promises_is_an_error() {
    let page = encode(&[1i32; 300], Layout::default_for::<i32>());
    for promised in [0, 299, 301] {
        let options = Options::default().expect_count(promised);
        let error = decode_into(&page, &mut [0i32; 301], options).unwrap_err();
        // Behind a block size of two bytes and the miniblocks.
        is(&error, ErrorKind::Corrupt, 3);
    }
    is(
        &decode_into(&[], &mut [0i32; 2], Options::default().expect_count(2)).unwrap_err(),
        ErrorKind::Corrupt,
        0,
    );
    assert!(decode_into(&page, &mut [0i32; 301], Options::STRICT.expect_count(300)).is_ok());
}

#[test]
fn trailing_bytes_are_not_consumed() {
    for count in [0, 1, 2, 32, 33, 129, 300] {
        let values: Vec<u64> = (0..count).map(|i| i * i * i).collect();
        let mut page = encode(&values, Layout::default_for::<u64>());
        let size = page.len();
        page.extend([0xff; 100]);
        assert_eq!(strict::<u64>(&page).unwrap(), (values, size));
        assert_eq!(inspect(&page).unwrap().consumed, size);
    }
}

#[test]
fn a_last_miniblock_without_padding_reads_leniently() {
    let values: Vec<i64> = (0..40).map(|i| i * i).collect();
    let page = encode(&values, Layout::default_for::<i64>());
    // 39 differences of 7 bits: 35 bytes of the 56 that a miniblock of 64 has.
    let body = page.len() - 56;
    for end in body + 35..page.len() {
        assert_eq!(lenient::<i64>(&page[..end]).unwrap(), (values.clone(), end));
        is(&strict::<i64>(&page[..end]).unwrap_err(), ErrorKind::Truncated, end);
    }
    is(&lenient::<i64>(&page[..body + 34]).unwrap_err(), ErrorKind::Truncated, body + 34);
}

#[test]
fn padding_bits_and_unneeded_widths_may_be_anything() {
    let values: Vec<i64> = (0..40).map(|i| i * i).collect();
    let mut page = encode(&values, Layout::default_for::<i64>());
    let body = page.len() - 56;
    page[body - 3..body].fill(0xff);
    // 39 fields of 7 bits end within byte 34.
    page[body + 34] |= 0xfe;
    page[body + 35..].fill(0xff);
    assert_eq!(strict::<i64>(&page).unwrap(), (values, page.len()));
}

#[test]
fn missing_widths_of_unneeded_miniblocks_are_an_error() {
    let page = encode(&[1i64, 2], Layout::default_for::<i64>());
    for missing in 1..4 {
        let end = page.len() - missing;
        is(&lenient::<i64>(&page[..end]).unwrap_err(), ErrorKind::Truncated, end);
    }
}

/// Widths are judged when their miniblock is reached: what lies before it is read, and is missed.
#[test]
fn widths_are_judged_when_their_miniblock_is_reached() {
    let fields: Vec<u64> = (0..32).collect();
    let page = Page::new(128, 4, 60, 0).block(1, &[8, 65, 0, 0], &[&fields]).bytes;
    let mut out = [0i64; 60];
    let error = decode_into(&page, &mut out, Options::default()).unwrap_err();
    is(&error, ErrorKind::Corrupt, 7);
    assert_eq!((error.values_before(), out[32], out[33]), (Some(33), 528, 0));
    // Without that body it is what is missing.
    is(&lenient::<i64>(&page[..20]).unwrap_err(), ErrorKind::Truncated, 20);
}

#[test]
fn every_truncation_is_an_error_at_the_end() {
    let values: Vec<i64> = (0..600).map(|i| i * i * 7919 % 65_537).collect();
    let page = encode(&values, Layout::default_for::<i64>());
    for end in 1..page.len() {
        let error = strict::<i64>(&page[..end]).unwrap_err();
        is(&error, ErrorKind::Truncated, end);
        // What was there before the end is right, and nothing behind it was touched.
        let mut out = vec![-1; 600];
        let error = decode_into(&page[..end], &mut out, Options::STRICT).unwrap_err();
        let count = usize::try_from(error.values_before().unwrap_or(0)).unwrap();
        assert_eq!(out[..count], values[..count]);
        assert!(out[count..].iter().all(|&x| x == -1));
    }
}

#[test]
fn errors_are_repeated_and_write_nothing() {
    let page = encode(&[5i32; 300], Layout::default_for::<i32>());
    let mut decoder = Decoder::<i32>::new(&page[..12], Options::default()).unwrap();
    let mut out = [0; 300];
    assert_eq!(decoder.read(&mut out).unwrap(), 129);
    for _ in 0..3 {
        is(&decoder.read(&mut out[129..]).unwrap_err(), ErrorKind::Truncated, 12);
        is(&decoder.skip(1).unwrap_err(), ErrorKind::Truncated, 12);
    }
    assert_eq!((out[128], out[129], decoder.remaining()), (5, 0, 171));
}

#[test]
fn the_output_is_limited_before_it_is_allocated() {
    let page = Page::new(1 << 62, 1, 1 << 50, 1).block(1, &[0], &[]).bytes;
    let limits = Limits::default().max_output(1 << 30);
    let error = decode::<i32>(&page, limits, Options::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.what().contains("max_output"), "{error}");
}
