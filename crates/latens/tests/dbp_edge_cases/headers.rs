//! Varints and headers that are odd, or not legal.

use crate::dbp_common::Page;
use crate::{is, lenient, strict};
use latens::ErrorKind;
use latens::delta_binary_packed::{Layout, Options, decode_into, encode, header, inspect};

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

#[test]
fn a_first_value_of_an_empty_stream_is_read_and_dropped() {
    let page = Page::new(128, 4, 0, 5).bytes;
    assert_eq!(lenient::<i32>(&page).unwrap(), (vec![], page.len()));
    assert_eq!(strict::<i32>(&page).unwrap(), (vec![], page.len()));
    // But for one beyond 32 bits, as in any stream.
    is(&strict::<i32>(&Page::new(128, 4, 0, 1 << 40).bytes).unwrap_err(), ErrorKind::Corrupt, 4);
}
