//! Pco files of one chunk, over and over: of every type, mode and delta encoding, large and tiny; and
//! chunks with the largest tables there are, of one number and of as few as earn them.

use super::{Heavy, MOST, OUTPUT};
use crate::common::fields::Fields;
use crate::common::numbers::{Shape, make};
use crate::common::{is_possible, modes};
use latens::pco::{Config, DeltaSpec, ModeSpec};
use latens::{Error, Limits, Number, NumberType, with_number_type};

fn decode(selector: u8, file: &[u8], limits: Limits) -> Result<usize, Error> {
    with_number_type!(crate::ground::pco::type_of(selector), T => {
        Ok(size_of_val(&latens::pco::decompress_with::<T>(file, limits, 1, &latens::Watch::NONE)?[..]))
    })
}

fn deltas() -> Vec<DeltaSpec> {
    let lookback = |window_log, state_log| DeltaSpec::Lookback {
        window_log: Some(window_log),
        state_log,
        secondary: true,
    };
    let consecutive = |order| DeltaSpec::Consecutive { order, secondary: true };
    let mut deltas = vec![DeltaSpec::None, consecutive(1), consecutive(2), consecutive(7)];
    deltas.extend([lookback(1, 0), lookback(10, 9), lookback(24, 0)]);
    deltas.extend([1, 2, 8, 17, 32].map(|order| DeltaSpec::Conv1 { order }));
    deltas
}

/// The bytes of a file before its first chunk.
fn head(file: &[u8]) -> usize {
    // Magic, version, uniform type; six bits for the width of the count hint, which follows.
    let hint = usize::from(file[6] & 63) + 1;
    6 + (6 + hint).div_ceil(8) + 2
}

/// The one chunk of a file as often as its output, and the input, may become.
fn repeated(file: &[u8], output: usize) -> Vec<u8> {
    let chunk = &file[head(file)..file.len() - 1];
    let times = ((MOST - 20) / chunk.len()).min(OUTPUT.div_ceil(output));
    Fields::head(0, 0).bytes(&chunk.repeat(times)).end()
}

fn encoded<T: Number>(config: &Config, shape: Shape, n: usize) -> Option<Vec<u8>> {
    let file = latens::pco::compress(&make::<T>(shape, n, 3), config).unwrap();
    (file.len() < MOST).then(|| repeated(&file, n * size_of::<T>()))
}

/// log2 of the slots of the largest table.
const LOG: u64 = 14;
/// Slots that a number earns, as [`Limits::max_spare_slots`] says.
const EARNED: u64 = 8;

fn selector_of(ty: NumberType) -> u8 {
    NumberType::ALL.iter().position(|t| *t == ty).unwrap() as u8
}

/// A chunk of `n` numbers, each of whose one to three variables has two bins in a table of 2^14.
fn chunk_of_tables(tables: u64, ty: NumberType, n: u64) -> Vec<u8> {
    let (int_mult, lookback) = (tables > 1, tables > 2);
    let k = ty.bits() as usize;
    // Latents of 0, residuals likewise; codes of the common bin take hardly any bits.
    let lower = if lookback { 1 << (k - 1) } else { 0 };
    let bins = [((1 << LOG) - 1, lower, 0), (1, lower, 0)];
    let lookbacks = [((1 << LOG) - 1, 1, 0), (1, 2, 0)];
    let mut chunk = Fields::default().chunk(ty.pco_byte(), n);
    chunk = if int_mult { chunk.field(1, 4).field(3, k) } else { chunk.field(0, 4) };
    // Lookback: window of 2^5, one state, of the primary and the secondary.
    chunk = if lookback {
        chunk.field(2, 4).field(4, 5).field(0, 4).field(1, 1).variable(32, LOG, &lookbacks)
    } else {
        chunk.field(0, 4)
    };
    chunk = chunk.variable(k, LOG, &bins);
    if int_mult {
        chunk = chunk.variable(k, LOG, &bins);
    }
    // States, lanes and codes are zeros, of which there must not be more than are read.
    let meta = chunk.pad().done();
    let limits = Limits::default().max_spare_slots(u64::MAX);
    let page = (0..9999).find_map(|zeros| {
        let chunk = [&meta[..], &vec![0; zeros]].concat();
        let file = file_of(&chunk, n, 1);
        decode(selector_of(ty), &file, limits).is_ok().then_some(chunk)
    });
    page.expect("as many zeros as are read")
}

/// A file of chunks of `n` numbers.
fn file_of(chunk: &[u8], n: u64, times: u64) -> Vec<u8> {
    Fields::head(0, n * times).bytes(&chunk.repeat(times as usize)).end()
}

/// As many variables as a mode and a delta encoding make, as many chunks as the limits let pass.
fn tables() -> Vec<Heavy> {
    let mut all = Vec::new();
    for (what, tables, ty) in [
        ("tables, one", 1, NumberType::U8),
        ("tables, two", 2, NumberType::U8),
        ("tables, three", 3, NumberType::U8),
        ("tables, one of u16", 1, NumberType::U16),
        ("tables, three of u16", 3, NumberType::U16),
        ("tables, three of u64", 3, NumberType::U64),
    ] {
        let (slots, spare) = (tables << LOG, Limits::default().max_spare_slots);
        let mut add = |n: u64, times: u64| {
            let chunk = chunk_of_tables(tables, ty, n);
            let bytes = file_of(&chunk, n, times.min((MOST - 20) as u64 / chunk.len() as u64));
            let (name, selector) = (format!("{what}, n={n}"), selector_of(ty));
            all.push(Heavy { decoder: "pco", name, selector, bytes, decode });
        };
        add(1, spare / slots);
        // As few numbers as earn what is beyond the limit.
        let chunk = chunk_of_tables(tables, ty, slots / EARNED);
        let times = (MOST - 20) as u64 / chunk.len() as u64;
        add((slots - spare / times).div_ceil(EARNED), times);
    }
    all
}

/// All but those that `thin` leaves out.
pub fn all(thin: usize) -> Vec<Heavy> {
    let mut out = tables();
    // Of each shape by itself: a step that divides their number would leave all but one out.
    let mut turns = [0; 5];
    for (selector, ty) in NumberType::ALL.into_iter().enumerate() {
        // What is signed has the latents of what is not.
        if matches!(ty, NumberType::I8 | NumberType::I16 | NumberType::I32 | NumberType::I64) {
            continue;
        }
        for mode in modes(ty).into_iter().filter(|mode| *mode != ModeSpec::Auto) {
            for delta in deltas() {
                let config = Config::default().mode(mode).delta(delta).checksum(false).level(1);
                if !is_possible(ty, &config) {
                    continue;
                }
                let shapes = [
                    (Shape::Constant, 1 << 16),
                    (Shape::Periodic, 1 << 16),
                    (Shape::Squares, 1 << 15),
                    (Shape::Few, 257),
                    (Shape::Special, 5),
                ];
                for ((shape, n), turn) in shapes.into_iter().zip(&mut turns) {
                    *turn += 1;
                    // All of the same number, and some of the others.
                    let rare = if shape == Shape::Constant { 1 } else { 7 };
                    if *turn % (rare * thin) != 0 {
                        continue;
                    }
                    let bytes = with_number_type!(ty, T => encoded::<T>(&config, shape, n));
                    let Some(bytes) = bytes else { continue };
                    let name = format!("{ty} {mode} {delta} {shape:?} n={n}");
                    let selector = selector as u8;
                    out.push(Heavy { decoder: "pco", name, selector, bytes, decode });
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_no_numbers_earn_are_limited() {
        let file = file_of(&chunk_of_tables(3, NumberType::U8, 1), 1, 700);
        let selector = selector_of(NumberType::U8);
        let limits = Limits::default();
        let error = decode(selector, &file, limits).unwrap_err();
        assert!(error.is_limit(), "{error}");
        let raised = limits.max_spare_slots(u64::MAX);
        let numbers: Vec<u8> =
            latens::pco::decompress_with(&file, raised, 1, &latens::Watch::NONE).unwrap();
        assert_eq!(numbers.len(), 700);
        // On several threads likewise, which find the chunks by walking.
        let read =
            |limits| latens::pco::decompress_with::<u8>(&file, limits, 2, &latens::Watch::NONE);
        assert!(read(limits).unwrap_err().is_limit());
        assert_eq!(read(raised).unwrap(), numbers);
    }
}
