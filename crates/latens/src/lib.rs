//! Lossless compression for numbers.
//!
//! For columns, arrays and pages of numbers, taken for what they are: values with an order, a step,
//! a neighbour. That makes them smaller than a general compressor does, and what comes back is
//! equal bit for bit, NaN payloads and negative zeros included.
//!
//! | module | format | here |
//! |---|---|---|
//! | [`pco`] | Pco, one column a file, or wrapped in a container | reads versions 0 to 4.1, writes 4.1 |
//! | [`delta_binary_packed`] | Parquet's DELTA_BINARY_PACKED and the two string encodings on it | reads and writes |
//! | [`wcodec`] | checkpoints of neural networks, exact and readable by the slice | reads and writes |
//!
//! # Examples
//!
//! A column, in one call each way:
//!
//! ```
//! use latens::pco;
//!
//! let prices: Vec<f64> = (0..10_000).map(|i| f64::from(1999 + i * i % 700) / 100.0).collect();
//! let file = pco::compress(&prices, &pco::Config::default())?;
//! assert!(file.len() * 5 < prices.len() * 8);
//! assert_eq!(pco::decompress::<f64>(&file)?, prices);
//! # Ok::<(), latens::Error>(())
//! ```
//!
//! A file from a stranger, batch by batch. Memory stays that of one chunk's tables, however long
//! the file; the limits say where to give up:
//!
//! ```
//! use latens::{Limits, pco::standalone::{Checksum, Decoder}};
//! # let numbers: Vec<i64> = (0..100_000).map(|i| i * 60 + i % 7).collect();
//! # let bytes = latens::pco::compress(&numbers, &latens::pco::Config::default())?;
//! # let (file, mut sum) = (&bytes[..], 0i64);
//! // let file = std::fs::File::open("times.pco")?;      any std::io::Read
//! let limits = Limits::default().max_output(1 << 30).max_alloc(64 << 20);
//! let mut decoder = Decoder::new(file, limits)?;
//! let mut batch = [0i64; 4096];
//! loop {
//!     match decoder.read(&mut batch)? {
//!         0 => break,
//!         n => sum += batch[..n].iter().sum::<i64>(),
//!     }
//! }
//! assert_eq!(decoder.finish()?.checksum, Checksum::Verified);
//! # assert_eq!(sum, numbers.iter().sum::<i64>());
//! # Ok::<(), latens::Error>(())
//! ```
//!
//! The values of a Parquet page in DELTA_BINARY_PACKED:
//!
//! ```
//! use latens::delta_binary_packed::{Layout, Options, decode_into, encode};
//!
//! let ids: Vec<i64> = (0..1000).map(|i| 1_700_000_000 + 60 * i + i % 7).collect();
//! let page = encode(&ids, Layout::default_for::<i64>());
//! let mut numbers = vec![0i64; 1000];
//! decode_into(&page, &mut numbers, Options::default())?;
//! assert_eq!(numbers, ids);
//! # Ok::<(), latens::Error>(())
//! ```
//!
//! # The formats
//!
//! **Pco** takes a number through four steps, and back the same way:
//!
//! ```text
//! number ──► latent(s) ──────► residual ─────────► bin + offset ──────► bits
//!            mode:             delta encoding:     256 in a batch;      tANS codes the bins,
//!            Classic IntMult   None Consecutive    a bin is a range     offsets are plain bits
//!            FloatMult Dict    Lookback Conv1      of latents
//!            FloatQuant
//! ```
//!
//! The mode undoes how the numbers were made (multiples of a step, floats with few bits, few
//! distinct values), the delta encoding what follows from the numbers before, the bins take what is
//! left. Modes, delta encodings and bins are chosen for each chunk of up to 2^24 numbers.
//! `specs/pco.md` has all of it.
//!
//! **DELTA_BINARY_PACKED** stores integers as differences to the value before, less the least of
//! their block, in fields of as many bits as a miniblock of at least 32 needs.
//! `specs/delta-binary-packed.md` has all of it.
//!
//! # Guarantees
//!
//! * *Lossless.* Two numbers are equal if their bits are.
//! * *Safe on any input.* No unsafe code here; input of any kind gives values or an [`Error`] with
//!   the byte it is about, never a panic. Memory is taken as bytes that earn it are read.
//! * *Bounded when asked.* [`Limits`] bound output and tables of every decoder. By default they
//!   bound neither: a few bytes may legally stand for very many equal numbers.
//! * *Damage is found* where checksums are: standalone Pco files of ours carry a trailer, which
//!   other readers skip. Formats without checksums cannot tell a flipped bit from other numbers.
//! * *The same output again.* It depends on numbers and settings, not on threads or on which
//!   kernels run.
//!
//! # Features
//!
//! There are none to choose. SIMD kernels live in the crate `latens-kernels`; which of them run is
//! found out once, at run time. The environment variable `LATENS_SIMD=scalar|neon|avx2|avx512` forces
//! one.
#![forbid(unsafe_code)]

mod ans;
mod bits;
pub mod delta_binary_packed;
pub mod error;
pub mod limits;
pub mod number;
pub mod pco;
mod spare;
mod threads;
mod watch;
pub mod wcodec;

pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
pub use number::{AnyNumbers, AnySlice, AnySliceMut, Latent, Number, NumberKind, NumberType, f16};
pub use watch::{Step, Watch};

/// The README's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
