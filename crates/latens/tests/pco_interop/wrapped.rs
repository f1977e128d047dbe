//! Wrapped pages, both ways.

use crate::common::numbers::{Shape, make};
use crate::common::{Both, deltas, difference, is_possible, modes};
use crate::{pco_deltas, pco_modes};
use latens::pco::Config;
use latens::pco::wrapped::{FileDecoder, FileEncoder};
use latens::{Limits, NumberType, with_number_type};

/// Lengths of pages that sum to `n`.
fn pages(n: usize, turn: usize) -> Vec<usize> {
    let lens = [1, 255, 256, 257, 7, 600, 33];
    let mut out = Vec::new();
    let mut left = n;
    for i in turn.. {
        let len = lens[i % lens.len()].min(left);
        if len == 0 {
            return out;
        }
        out.push(len);
        left -= len;
    }
    out
}

fn ours_wrapped_to_pco<T: Both>(numbers: &[T], page_lens: &[usize], config: &Config, what: &str) {
    let encoder = FileEncoder::new(config.clone());
    let mut file = Vec::new();
    encoder.write_header(&mut file).unwrap();
    let chunk = encoder.chunk_encoder(numbers, page_lens).unwrap();
    chunk.write_meta(&mut file).unwrap();
    let mut ends = Vec::new();
    for page in 0..chunk.pages() {
        chunk.write_page(page, &mut file).unwrap();
        ends.push(file.len());
    }

    let (decoder, rest) = pco::wrapped::FileDecompressor::new(&file[..]).unwrap();
    let (mut theirs, mut rest) = decoder.chunk_decompressor::<T, _>(rest).unwrap();
    let mut got = Vec::new();
    for (&n, &end) in page_lens.iter().zip(&ends) {
        let mut part = vec![T::default(); n];
        let mut page = theirs.page_decompressor(rest, n).unwrap();
        page.read(&mut part).unwrap_or_else(|e| panic!("{what}: {e}"));
        rest = page.into_src();
        assert_eq!(file.len() - rest.len(), end, "{what}");
        got.extend(part);
    }
    assert_eq!(difference(&got, numbers), None, "{what}: pco");

    let (decoder, at) = FileDecoder::new(&file, Limits::default()).unwrap();
    let (ours, used) = decoder.chunk_decoder::<T>(&file[at..]).unwrap();
    let mut at = at + used;
    let mut got = Vec::new();
    for (&n, &end) in page_lens.iter().zip(&ends) {
        let mut part = vec![T::default(); n];
        at += ours.decode_page(&file[at..], &mut part).unwrap();
        assert_eq!(at, end, "{what}");
        got.extend(part);
    }
    assert_eq!(difference(&got, numbers), None, "{what}: ours");
}

#[test]
fn wrapped_pages_go_both_ways() {
    fn check<T: Both>() -> usize {
        let mut turn = 0;
        for mode in modes(T::TYPE) {
            for delta in deltas() {
                turn += 1;
                let config = Config::default().mode(mode).delta(delta).level(turn as u32 % 13);
                // Every third setting is enough beside the standalone crossing.
                if turn % 3 != 0 || !is_possible(T::TYPE, &config) {
                    continue;
                }
                let shape = Shape::ALL[turn % 10];
                let numbers = make::<T>(shape, 2000, turn as u64);
                let lens = pages(numbers.len(), turn);
                let what = format!("{} {shape:?} {config:?} {lens:?}", T::TYPE);
                ours_wrapped_to_pco(&numbers, &lens, &config, &what);
            }
        }
        turn
    }
    for ty in NumberType::ALL {
        with_number_type!(ty, T => check::<T>());
    }
}

#[test]
fn wrapped_pages_of_pco() {
    fn check<T: Both>() {
        let mut turn = 0;
        for mode in pco_modes(T::TYPE) {
            for delta in pco_deltas() {
                turn += 1;
                let conv = matches!(delta, pco::DeltaSpec::TryConv1(_));
                if turn % 3 != 0 || conv && T::TYPE.bits() > 32 {
                    continue;
                }
                // Conv1 of pco panics on pages that leave few numbers for the last batch.
                let lens = if conv { vec![512, 255, 600] } else { pages(1500, turn) };
                let numbers = make::<T>(Shape::ALL[turn % 10], lens.iter().sum(), turn as u64);
                let config = pco::ChunkConfig::default()
                    .with_compression_level(turn % 13)
                    .with_mode_spec(mode.clone())
                    .with_delta_spec(delta)
                    .with_paging_spec(pco::PagingSpec::Exact(lens.clone()))
                    .with_enable_8_bit(true);
                let what = format!("{} {config:?}", T::TYPE);
                let encoder = pco::wrapped::FileCompressor::default();
                let mut file = encoder.write_header(Vec::new()).unwrap();
                let mut chunk = encoder.chunk_compressor(&numbers, &config).unwrap();
                file = chunk.write_meta(file).unwrap();
                for page in 0..lens.len() {
                    file = chunk.write_page(page, file).unwrap();
                }
                let (decoder, at) = FileDecoder::new(&file, Limits::default()).unwrap();
                let (ours, used) = decoder.chunk_decoder::<T>(&file[at..]).unwrap();
                let mut at = at + used;
                let mut got = Vec::new();
                for &n in &lens {
                    let mut part = vec![T::default(); n];
                    at += ours
                        .decode_page(&file[at..], &mut part)
                        .unwrap_or_else(|e| panic!("{what}: {e}"));
                    got.extend(part);
                }
                assert_eq!(at, file.len(), "{what}");
                assert_eq!(difference(&got, &numbers), None, "{what}");
            }
        }
    }
    for ty in NumberType::ALL {
        with_number_type!(ty, T => check::<T>());
    }
}
