//! A million mutated pages: no panic, no write beyond the reported count, the same verdict on all
//! instruction sets, and for a share of them the verdict and values of the model.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]

mod dbp_common;

use dbp_common::{Page, model_decode, noise};
use latens::delta_binary_packed::{
    Decoder, Element, Layout, Options, decode, delta_byte_array, delta_length_byte_array, encode,
    inspect,
};
use latens::{Limits, delta_binary_packed::decode_into};
use latens_kernels::dispatch::Simd;

const ROOM: usize = 700;

fn seeds() -> Vec<Vec<u8>> {
    let mut next = noise(11);
    let mut seeds = vec![Page::new(1 << 40, 1, 500, 1).block(1, &[0], &[]).bytes];
    for (size, miniblocks) in [(128, 1), (128, 4), (256, 4), (256, 8), (2048, 8)] {
        let layout = Layout::new(size, miniblocks).unwrap();
        for bits in [0u32, 1, 7, 13, 26, 33, 63] {
            let count = 1 + next() as usize % 400;
            let mask = (1u64 << bits) - 1;
            let values: Vec<u64> = (0..count).map(|_| next() & mask).collect();
            seeds.push(encode(&values, layout));
            let narrow: Vec<i32> = values.iter().map(|&v| v as i32).collect();
            seeds.push(encode(&narrow, layout));
        }
    }
    seeds
}

/// One to four of: flip a bit, set a byte, blow up a byte, cut, insert, copy a part.
fn mutate(page: &mut Vec<u8>, next: &mut impl FnMut() -> u64) {
    for _ in 0..1 + next() % 4 {
        if page.is_empty() {
            return;
        }
        let r = next();
        // Mostly near to the front, where the structure is.
        let span = if r & 8 == 0 { page.len().min(16) } else { page.len() };
        let at = (r >> 8) as usize % span;
        match r % 8 {
            0 | 1 => page[at] ^= 1 << (r >> 40 & 7),
            2 | 3 => page[at] = (r >> 40) as u8,
            4 => page[at] = [0x00, 0x7f, 0x80, 0xff, 64, 65, 32, 33][(r >> 40) as usize % 8],
            5 => page.truncate(at),
            6 => page.insert(at, (r >> 40) as u8),
            _ => {
                let from = (r >> 40) as usize % page.len();
                let n = (page.len() - from.max(at)).min(9);
                page.copy_within(from..from + n, at);
            }
        }
    }
}

/// Decodes on every instruction set; what is reported is what was written.
fn check<T: Element + PartialEq>(page: &[u8], marker: T, options: Options) {
    let mut first: Option<(Vec<T>, String)> = None;
    for simd in Simd::available() {
        let mut out = vec![marker; ROOM];
        let (count, verdict) = match Decoder::<T>::new(page, options) {
            Err(error) => (0, error.to_string()),
            Ok(decoder) => {
                let mut decoder = decoder.with_simd(simd);
                let room = if decoder.remaining() % 3 == 0 { ROOM } else { ROOM - 13 };
                match decoder.read(&mut out[..room]) {
                    Err(error) => (0, error.to_string()),
                    Ok(n) => (n, format!("{n} {:?}", decoder.consumed())),
                }
            }
        };
        assert!(out[count..].iter().all(|x| *x == marker), "a write beyond {count}");
        match &first {
            None => first = Some((out, verdict)),
            Some((values, other)) => {
                assert_eq!(*other, verdict);
                assert!(*values == out, "other values on {}", simd.name());
            }
        }
    }
    let mut out = vec![marker; ROOM];
    let count = match decode_into(page, &mut out, options) {
        Ok(done) => {
            assert!(done.consumed <= page.len());
            done.count
        }
        Err(error) => {
            assert!(error.at().is_none_or(|at| at <= page.len() as u64), "{error}");
            error.values_before().unwrap_or(0) as usize
        }
    };
    assert!(out[count..].iter().all(|x| *x == marker), "a write beyond {count}");
}

fn rounds() -> usize {
    std::env::var("LATENS_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000_000)
}

#[test]
fn a_million_mutated_pages() {
    let seeds = seeds();
    let mut next = noise(12);
    let mut accepted = 0;
    for round in 0..rounds() {
        let mut page = seeds[round % seeds.len()].clone();
        mutate(&mut page, &mut next);
        let options = if round % 2 == 0 { Options::default() } else { Options::STRICT };
        if round % 4 < 2 {
            check(&page, -77i64, options);
        } else {
            check(&page, -77i32, options);
        }
        if round % 10 == 0 {
            let limits = Limits::default().max_output(8 << 12);
            let ours = decode::<u64>(&page, limits, Options::default());
            let model = model_decode(&page, 64, 1 << 12);
            assert_eq!(ours.is_ok(), model.is_some(), "{page:?} {ours:?}");
            if let (Ok(ours), Some(model)) = (ours, model) {
                assert_eq!(ours, model);
                assert_eq!(inspect(&page).unwrap().consumed, ours.1);
                accepted += 1;
            }
        }
    }
    println!("{accepted} of {} pages that the model saw were accepted", rounds() / 10);
}

#[test]
fn mutated_strings_do_not_panic() {
    let mut next = noise(13);
    let strings: Vec<Vec<u8>> = (0..200u64)
        .map(|i| format!("prefix {} {}", i / 20, "x".repeat((next() % 9) as usize)).into_bytes())
        .collect();
    let lengths = delta_length_byte_array::encode(&strings).unwrap();
    let prefixes = delta_byte_array::encode(&strings).unwrap();
    let limits = Limits::default().max_output(1 << 20);
    for round in 0..rounds() / 10 {
        for seed in [&lengths, &prefixes] {
            let mut page = seed.clone();
            mutate(&mut page, &mut next);
            let options = Options { strict: round % 2 == 0, ..Options::default() };
            let one = delta_length_byte_array::decode(&page, limits, options);
            let two = delta_byte_array::decode(&page, limits, options);
            for (strings, consumed) in one.into_iter().chain(two) {
                assert!(consumed <= page.len());
                assert_eq!(strings.iter().map(<[u8]>::len).sum::<usize>(), strings.data().len());
            }
        }
    }
}
