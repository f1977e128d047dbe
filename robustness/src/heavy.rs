//! Inputs of at most 64 KiB that stand for much or cost much, decoded without the limit that cuts
//! off the cases of a run; each also cut short, so that an error comes as late as can be.
//!
//! The bar: a second for each 128 MiB of output, 100 ms where there is less than 1 MiB; for an error
//! 100 ms, or the time of what stands before it. Kinds that are known to be over it are told
//! apart; where inputs are left out, the machine is taken for a busy one.

use crate::measure::measured;
use crate::measure::taken;
use crate::table::{bytes, time};
use latens::{Error, Limits};
use std::fmt::Write as _;

pub mod delta;
pub mod pco;
pub mod wcodec;

/// Largest input.
pub const MOST: usize = 64 << 10;
/// Output at which inputs are made to end, about.
pub const OUTPUT: usize = 16 << 20;
/// Beginnings of the names of inputs that are over the bar, as SECURITY.md says; and how many times, at
/// most.
const KNOWN: [&str; 2] = ["I8 Direct Linear", "I8 Bitplane Linear"];
const KNOWN_TIMES: u64 = 3;
/// How much longer anything may take on a busy machine.
const BUSY_TIMES: u64 = 2;
/// Output from which on the time for it is bounded by how much it is.
const MUCH: usize = 1 << 20;
/// What an input may take that stands for less.
pub const FLOOR: u64 = 100_000_000;

/// Decodes all of an input of the selector's kind: bytes of output.
pub type Decode = fn(u8, &[u8], Limits) -> Result<usize, Error>;

/// An input.
pub struct Heavy {
    /// What decodes it.
    pub decoder: &'static str,
    /// What is inside.
    pub name: String,
    /// What the decoder is told beside the bytes.
    pub selector: u8,
    /// The input.
    pub bytes: Vec<u8>,
    /// The decoder.
    pub decode: Decode,
}

/// What one input took.
pub struct Taken {
    /// Bytes of output.
    pub output: usize,
    /// Processor time until the output.
    pub nanos: u64,
    /// Processor time until the error of the same input without its last byte.
    pub error_nanos: u64,
}

impl Taken {
    /// For 128 MiB of output, as this one took; `None` where it has less than a MiB.
    pub fn per_128_mib(&self) -> Option<u64> {
        (self.output >= MUCH).then(|| scaled(self.nanos, self.output))
    }

    /// In so many times the bounds.
    pub fn is_within(&self, times: u64) -> bool {
        self.nanos <= times * allowed(self.output)
            && self.error_nanos <= times * FLOOR.max(allowed(self.output))
    }
}

/// Nanoseconds for 128 MiB, as for so many bytes.
pub fn scaled(nanos: u64, output: usize) -> u64 {
    (u128::from(nanos) * (128 << 20) / output.max(1) as u128) as u64
}

/// Nanoseconds until an output of so many bytes.
pub fn allowed(output: usize) -> u64 {
    match output >= MUCH {
        true => (output as u128 * 1_000_000_000 / (128 << 20)) as u64,
        false => FLOOR,
    }
}

/// All inputs, of all decoders; every `thin`th.
pub fn all(thin: usize) -> impl Iterator<Item = Heavy> {
    let makers: [fn(usize) -> Vec<Heavy>; 3] = [pco::all, delta::all, wcodec::all];
    let all = makers.into_iter().flat_map(move |make| make(thin));
    all.inspect(|h| assert!(h.bytes.len() <= MOST, "{}: {} bytes", h.name, h.bytes.len()))
}

impl Heavy {
    /// Decodes it, three times where that seems long: another program may have been in the way.
    ///
    /// # Panics
    /// Where it is refused, or its front is not.
    pub fn take(&self) -> Taken {
        let least = |bytes: &[u8], expected: Option<usize>| {
            let (mut result, mut least) = (None, u64::MAX);
            for _ in 0..3 {
                let limits = Limits::default();
                let output = measured(|| (self.decode)(self.selector, bytes, limits));
                least = taken().nanos.min(least);
                let expected = expected.or_else(|| output.as_ref().ok().copied()).unwrap_or(0);
                result = Some(output);
                if least <= allowed(expected) / 2 {
                    break;
                }
            }
            (result.expect("three turns"), least)
        };
        let (output, nanos) = least(&self.bytes, None);
        let output = output.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let (error, error_nanos) = least(&self.bytes[..self.bytes.len() - 1], Some(output));
        assert!(error.is_err(), "{}: decoded without its last byte", self.name);
        Taken { output, nanos, error_nanos }
    }
}

/// What the inputs of a decoder took at most.
#[derive(Default)]
struct Worst {
    decoder: &'static str,
    inputs: usize,
    output: usize,
    per_128_mib: (u64, String),
    small: (u64, String),
    error: (u64, String),
}

/// Decodes those with `part` in their names: a line each.
pub fn list(thin: usize, part: &str) -> impl Iterator<Item = String> {
    all(thin).filter(move |heavy| heavy.name.contains(part)).map(|heavy| {
        let (took, input) = (heavy.take(), heavy.bytes.len());
        let (output, nanos) = (bytes(took.output as u64), time(took.nanos));
        let per = took.per_128_mib().map_or("-".to_owned(), time);
        let error = time(took.error_nanos);
        let (decoder, name) = (heavy.decoder, heavy.name);
        format!("{decoder}: {name}, {input} bytes: {output} in {nanos} ({per} per 128 MiB), an error in {error}")
    })
}

/// What decoding all of them has shown.
pub struct Shown {
    /// In Markdown.
    pub table: String,
    /// What broke a bound.
    pub wrong: Vec<String>,
    /// What is known to break it.
    pub known: Vec<String>,
}

/// Decodes all of them.
pub fn table(thin: usize) -> Shown {
    let (mut rows, mut wrong, mut known) = (Vec::<Worst>::new(), Vec::new(), Vec::new());
    let times = if thin == 1 { 1 } else { BUSY_TIMES };
    for heavy in all(thin) {
        let took = heavy.take();
        if rows.last().is_none_or(|row| row.decoder != heavy.decoder) {
            rows.push(Worst { decoder: heavy.decoder, ..Worst::default() });
        }
        let row = rows.last_mut().expect("one was pushed");
        row.inputs += 1;
        row.output = row.output.max(took.output);
        let name = format!("{}, {} bytes", heavy.name, heavy.bytes.len());
        let raise = |place: &mut (u64, String), nanos: u64| {
            if nanos > place.0 {
                *place = (nanos, name.clone());
            }
        };
        match took.per_128_mib() {
            Some(nanos) => raise(&mut row.per_128_mib, nanos),
            None => raise(&mut row.small, took.nanos),
        }
        // An error behind much output is the output's.
        if took.error_nanos <= FLOOR || took.output < MUCH {
            raise(&mut row.error, took.error_nanos);
        }
        if !took.is_within(times) {
            let is_known = KNOWN.iter().any(|known| heavy.name.starts_with(known));
            let list = match is_known && took.is_within(times * KNOWN_TIMES) {
                true => &mut known,
                false => &mut wrong,
            };
            let (decoder, output) = (heavy.decoder, bytes(took.output as u64));
            let (nanos, error) = (time(took.nanos), time(took.error_nanos));
            list.push(format!("{decoder}: {name}: {output} in {nanos}, an error in {error}"));
        }
    }
    let seen: Vec<_> = rows.iter().map(|row| row.decoder).collect();
    assert_eq!(seen, ["pco", "dbp", "dlba", "dba", "wcodec"], "inputs of every decoder");
    let mut text = "| decoder | inputs | most output | per 128 MiB, at most | of which input \
        | less than 1 MiB, at most | of which input | error, at most | of which input |\n\
        |---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for row in rows {
        let [per, small, error] = [row.per_128_mib, row.small, row.error]
            .map(|(nanos, name)| format!("{} | {name}", time(nanos)));
        let (decoder, inputs, output) = (row.decoder, row.inputs, bytes(row.output as u64));
        writeln!(text, "| {decoder} | {inputs} | {output} | {per} | {small} | {error} |")
            .expect("a string grows");
    }
    Shown { table: text, wrong, known }
}
