//! The edge cases of DELTA_BINARY_PACKED that readers stumble over, each row of the table in
//! `specs/delta-binary-packed.md` a test.
#![allow(clippy::unwrap_used, reason = "tests")]

mod dbp_common;

use dbp_common::Page;
use latens::delta_binary_packed::{
    Decoder, Element, Layout, Options, decode, decode_into, delta_byte_array,
    delta_length_byte_array, encode, header, inspect,
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
fn any_legal_block_size_is_read() {
    let values: Vec<i64> = (0..30_000).map(|i| i * i % 977).collect();
    for (size, miniblocks) in [(128, 4), (256, 4), (2048, 8), (20096, 4), (1 << 20, 1)] {
        let page = encode(&values, Layout::new(size, miniblocks).unwrap());
        assert_eq!(strict::<i64>(&page).unwrap(), (values.clone(), page.len()));
    }
}

#[test]
fn a_giant_block_size_allocates_nothing() {
    // 2^62 values in a block: legal, and for few values of width 0 also complete.
    let page = Page::new(1 << 62, 1, 5, 1).block(1, &[0], &[]).bytes;
    assert_eq!(strict::<i64>(&page).unwrap().0, [1, 2, 3, 4, 5]);
    // With a body it would be 2^59 bytes and more; leniently the five fields do.
    let page = Page::new(1 << 62, 1, 5, 1).block(1, &[8], &[&[0, 1, 2, 3]]).bytes;
    assert_eq!(lenient::<i64>(&page).unwrap().0, [1, 2, 4, 7, 11]);
    assert_eq!(strict::<i64>(&page).unwrap_err().kind(), ErrorKind::Truncated);
    let many = Page::new(1 << 62, 1 << 57, 5, 1).block(1, &[0], &[]).bytes;
    assert_eq!(lenient::<i64>(&many).unwrap_err().kind(), ErrorKind::Truncated);
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

#[test]
fn overlong_varints_of_up_to_ten_bytes_are_read() {
    let plain = encode(&[3i32, 4], Layout::default_for::<i32>());
    let mut page = vec![0x80, 0x81, 0x00, 0x84, 0x80, 0x00, 0x82, 0x00];
    page.extend([0x86, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]);
    page.extend(&plain[5..]);
    assert_eq!(strict::<i32>(&page).unwrap(), (vec![3, 4], page.len()));
}

#[test]
fn varints_of_more_than_ten_bytes_or_64_bits_are_errors() {
    for field in 0..5 {
        let plain = encode(&[0i64, 0], Layout::default_for::<i64>());
        let starts = [0, 2, 3, 4, 5];
        for tail in [&[0x80, 0x00][..], &[0x02], &[0x7f], &[0xff, 0xff, 0x01]] {
            let mut page = plain[..starts[field]].to_vec();
            page.extend([0x80; 9]);
            page.extend(tail);
            page.extend(&plain[starts[field] + 1..]);
            is(&lenient::<i64>(&page).unwrap_err(), ErrorKind::Corrupt, starts[field]);
        }
    }
}

#[test]
fn illegal_shapes_are_errors() {
    for (size, miniblocks) in [
        (0, 0),
        (0, 4),
        (128, 0),
        (128, 3),
        (64, 2),
        (128, 16),
        (100, 1),
        (129, 1),
        (256, 16),
        (u64::MAX, 1),
        (128, u64::MAX),
        (8, 1),
    ] {
        let page = Page::new(size, miniblocks, 5, 1).block(1, &[0; 16], &[]).bytes;
        let error = lenient::<i64>(&page).unwrap_err();
        // The miniblocks stand behind a block size that is right.
        let at = if size % 128 == 0 && size > 0 { 1 + usize::from(size > 127) } else { 0 };
        is(&error, ErrorKind::Corrupt, at);
        assert!(header(&page).is_err() && inspect(&page).is_err());
    }
}

/// Block size and miniblocks are judged before the next field is read, count and first value when
/// the header is there.
#[test]
fn the_fields_of_a_header_are_judged_in_their_order() {
    is(&lenient::<i32>(&[0x81, 0x01]).unwrap_err(), ErrorKind::Corrupt, 0);
    is(&lenient::<i32>(&[0x80, 0x01]).unwrap_err(), ErrorKind::Truncated, 2);
    is(&lenient::<i32>(&[0x80, 0x01, 3]).unwrap_err(), ErrorKind::Corrupt, 2);
    let one = Options::STRICT.expect_count(1);
    let error = decode_into(&[0x80, 0x01, 4, 2], &mut [0i32; 2], one).unwrap_err();
    is(&error, ErrorKind::Truncated, 4);
    let page = Page::new(128, 4, 2, 1 << 40).bytes;
    is(&decode_into(&page, &mut [0i32; 2], one).unwrap_err(), ErrorKind::Corrupt, 3);
    is(&strict::<i32>(&page).unwrap_err(), ErrorKind::Corrupt, 4);
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
fn a_first_value_of_an_empty_stream_is_read_and_dropped() {
    let page = Page::new(128, 4, 0, 5).bytes;
    assert_eq!(lenient::<i32>(&page).unwrap(), (vec![], page.len()));
    assert_eq!(strict::<i32>(&page).unwrap(), (vec![], page.len()));
    // But for one beyond 32 bits, as in any stream.
    is(&strict::<i32>(&Page::new(128, 4, 0, 1 << 40).bytes).unwrap_err(), ErrorKind::Corrupt, 4);
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

/// A stream of lengths.
fn lengths(values: &[i32]) -> Vec<u8> {
    encode(values, Layout::default_for::<i32>())
}

fn strings(bytes: &[u8], options: Options) -> latens::Result<(Vec<Vec<u8>>, usize)> {
    let (strings, size) = delta_length_byte_array::decode(bytes, Limits::default(), options)?;
    Ok((strings.iter().map(<[u8]>::to_vec).collect(), size))
}

fn prefixed(bytes: &[u8], options: Options) -> latens::Result<(Vec<Vec<u8>>, usize)> {
    let (strings, size) = delta_byte_array::decode(bytes, Limits::default(), options)?;
    Ok((strings.iter().map(<[u8]>::to_vec).collect(), size))
}

/// What is wrong with a length lies at the stream that has it, what is missing at the end.
#[test]
fn strings_in_error() {
    let good = [lengths(&[2, 1]), b"abc".to_vec()].concat();
    let all = vec![b"ab".to_vec(), b"c".to_vec()];
    assert_eq!(strings(&good, Options::STRICT).unwrap(), (all, good.len()));
    // Bytes behind the last string are left.
    let more = [&good[..], b"more"].concat();
    assert_eq!(strings(&more, Options::STRICT).unwrap().1, good.len());
    let end = good.len() - 1;
    is(&strings(&good[..end], Options::default()).unwrap_err(), ErrorKind::Truncated, end);
    let negative = [lengths(&[2, -1]), b"abc".to_vec()].concat();
    is(&strings(&negative, Options::default()).unwrap_err(), ErrorKind::Corrupt, 0);

    let rests = |values: &[i32], bytes: &[u8]| [&lengths(values), bytes].concat();
    let page = |prefixes: &[i32], rests: &[u8]| [&lengths(prefixes), rests].concat();
    let rest = rests(&[2, 1], b"abc");
    let behind = lengths(&[0, 1]).len();
    let good = page(&[0, 1], &rest);
    let all = vec![b"ab".to_vec(), b"ac".to_vec()];
    assert_eq!(prefixed(&good, Options::STRICT).unwrap(), (all, good.len()));
    let more = [&good[..], b"more"].concat();
    assert_eq!(prefixed(&more, Options::STRICT).unwrap().1, good.len());
    for prefixes in [[0, -1], [0, 3], [1, 0]] {
        let error = prefixed(&page(&prefixes, &rest), Options::default()).unwrap_err();
        is(&error, ErrorKind::Corrupt, 0);
    }
    let error = prefixed(&page(&[0, 1], &rests(&[2, -1], b"abc")), Options::default());
    is(&error.unwrap_err(), ErrorKind::Corrupt, behind);
    let error = prefixed(&page(&[0, 1], &rests(&[2], b"abc")), Options::default());
    is(&error.unwrap_err(), ErrorKind::Corrupt, behind);
    let end = good.len() - 1;
    is(&prefixed(&good[..end], Options::default()).unwrap_err(), ErrorKind::Truncated, end);
}

/// The streams of lengths are read as any stream is: leniently, or strictly.
#[test]
fn streams_of_lengths_are_strict_where_that_is_asked_for() {
    // A length of 2^32 + 2, and empty strings without the padding of their lengths.
    let wide = [Page::new(128, 4, 1, (1 << 32) + 2).bytes, b"ab".to_vec()].concat();
    assert_eq!(strings(&wide, Options::default()).unwrap().0, [b"ab"]);
    is(&strings(&wide, Options::STRICT).unwrap_err(), ErrorKind::Corrupt, 4);
    let prefixed_wide = [lengths(&[0]), wide].concat();
    assert_eq!(prefixed(&prefixed_wide, Options::default()).unwrap().0, [b"ab"]);
    let error = prefixed(&prefixed_wide, Options::STRICT).unwrap_err();
    is(&error, ErrorKind::Corrupt, lengths(&[0]).len() + 4);
    let fields = [0; 32];
    let page = Page::new(128, 4, 3, 0).block(0, &[8, 0, 0, 0], &[&fields]).bytes;
    let cut = &page[..page.len() - 30];
    assert_eq!(strings(cut, Options::default()).unwrap().0.len(), 3);
    is(&strings(cut, Options::STRICT).unwrap_err(), ErrorKind::Truncated, cut.len());
    // So is the count that is expected, of both streams.
    let two = Options::default().expect_count(2);
    is(&strings(&page, two).unwrap_err(), ErrorKind::Corrupt, 3);
}
