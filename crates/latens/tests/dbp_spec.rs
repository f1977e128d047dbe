//! The worked examples of `specs/delta-binary-packed.md` are legal and mean what is said there.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fmt::Debug;
use std::str::FromStr;

use latens::Limits;
use latens::delta_binary_packed::{
    ByteArrays, Element, Layout, Options, decode, delta_byte_array, delta_length_byte_array,
    encode, header,
};

fn check_numbers<T: Element + FromStr>(page: &[u8], values: &[&str], strict: bool)
where
    T::Err: Debug,
{
    let values: Vec<T> = values.iter().map(|v| v.parse().unwrap()).collect();
    let limits = Limits::default();
    let read = decode::<T>(page, limits, Options::default()).unwrap();
    assert_eq!(read, (values.clone(), page.len()));
    assert_eq!(decode::<T>(page, limits, Options::STRICT).is_ok(), strict);
    if strict {
        let layout = header(page).unwrap().layout;
        let layout = Layout::new(layout.block_size(), layout.miniblocks()).unwrap();
        assert_eq!(encode(&values, layout), page);
    }
}

fn check_strings(read: latens::Result<(ByteArrays<'_>, usize)>, page: &[u8], values: &[&str]) {
    let (strings, consumed) = read.unwrap();
    assert!(strings.iter().eq(values.iter().map(|v| v.as_bytes())));
    assert_eq!(consumed, page.len());
}

#[test]
fn worked_examples_decode() {
    let spec = include_str!("../../../specs/delta-binary-packed.md");
    let mut seen = 0;
    let mut parts = spec.split("\n```");
    parts.next();
    // Every other part is inside a fence.
    for example in parts.step_by(2) {
        let (kind, body) = example.split_once('\n').unwrap();
        if kind == "text" {
            continue;
        }
        let mut page = Vec::new();
        let mut values = None;
        for line in body.lines() {
            if let Some(rest) = line.strip_prefix("values") {
                values = Some(rest.split_whitespace().collect::<Vec<_>>());
            } else {
                let hex = line.split('|').next().unwrap();
                page.extend(hex.split_whitespace().map(|b| u8::from_str_radix(b, 16).unwrap()));
            }
        }
        let values = values.unwrap();
        let (limits, strict) = (Limits::default(), Options::STRICT);
        println!("{kind}: {values:?}");
        match kind {
            "dbp i32" => check_numbers::<i32>(&page, &values, true),
            "dbp i32 lenient" => check_numbers::<i32>(&page, &values, false),
            "dbp i64" => check_numbers::<i64>(&page, &values, true),
            "dlba" => {
                check_strings(
                    delta_length_byte_array::decode(&page, limits, strict),
                    &page,
                    &values,
                );
                assert_eq!(delta_length_byte_array::encode(&values).unwrap(), page);
            }
            "dba" => {
                check_strings(delta_byte_array::decode(&page, limits, strict), &page, &values);
                assert_eq!(delta_byte_array::encode(&values).unwrap(), page);
            }
            other => panic!("an example of unknown kind {other}"),
        }
        seen += 1;
    }
    assert_eq!(seen, 8);
}
