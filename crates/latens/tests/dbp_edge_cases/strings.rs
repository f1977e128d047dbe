//! Strings, whose lengths are such streams.

use crate::dbp_common::Page;
use crate::is;
use latens::delta_binary_packed::{
    Layout, Options, delta_byte_array, delta_length_byte_array, encode,
};
use latens::{ErrorKind, Limits};

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
