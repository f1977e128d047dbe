//! A column being read: `.npy`, bare bytes, `.pco` or a table's column, as little-endian bytes in
//! bounded pieces.

use latens::pco::standalone::Decoder;
use latens::{Limits, NumberType};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::{Mutex, PoisonError};

use super::npy::NpyHeader;
use super::pco::{ending, next_pco, no_type};
use crate::format::Format;
use crate::io::section::Reader;
use crate::job::Input;
use crate::message::{Failure, Result};

/// Open the bytes of an input.
///
/// # Errors
/// I/O, with the file's name; a folder.
pub fn open(input: &Input) -> Result<Reader> {
    Ok(match input {
        Input::Stdin => {
            let seen = std::mem::take(&mut *SEEN.lock().unwrap_or_else(PoisonError::into_inner));
            Box::new(io::Cursor::new(seen).chain(BufReader::with_capacity(1 << 16, io::stdin())))
        }
        Input::File(path) => {
            let named = |e: io::Error| Failure::from(e).in_file(path);
            let file = File::open(path).map_err(named)?;
            if file.metadata().map_err(named)?.is_dir() {
                return Err(Failure::folder().in_file(path));
            }
            Box::new(BufReader::with_capacity(1 << 16, file))
        }
    })
}

/// What was looked at of standard input, and must still be read: there is only one such stream.
static SEEN: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The header of a `.npy` file, which is still to be read after that. `None` for what can be read
/// only once and is not standard input.
///
/// # Errors
/// I/O, a bad header.
pub fn look(input: &Input) -> Result<Option<NpyHeader>> {
    match input {
        Input::Stdin => {
            let mut seen = Vec::new();
            let outcome = NpyHeader::read(&mut Noted { from: io::stdin().lock(), seen: &mut seen });
            *SEEN.lock().unwrap_or_else(PoisonError::into_inner) = seen;
            outcome.map(|(header, _)| Some(header))
        }
        Input::File(path) if std::fs::metadata(path).is_ok_and(|there| there.is_file()) => {
            Ok(Some(NpyHeader::read(&mut open(input)?)?.0))
        }
        Input::File(_) => Ok(None),
    }
}

/// A reader that keeps what went through it.
struct Noted<'a, R> {
    from: R,
    seen: &'a mut Vec<u8>,
}

impl<R: Read> Read for Noted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(into)?;
        self.seen.extend(into.get(..n).unwrap_or_default());
        Ok(n)
    }
}

/// The next so many numbers as bytes, fewer only at the end.
pub type Next<'a> = Box<dyn FnMut(usize) -> Result<Vec<u8>> + 'a>;

/// One column, from its first number on.
pub struct Source<'a> {
    ty: NumberType,
    /// How many numbers it says there are; only ever a hint.
    n_hint: u64,
    kind: Kind<'a>,
}

enum Kind<'a> {
    /// Bytes of numbers; `left` of them where that is known, the first to come at `at`.
    Bytes {
        reader: Reader,
        left: Option<u64>,
        at: u64,
        big_endian: bool,
    },
    Pco(Box<Decoder<Reader>>),
    Column(Next<'a>),
}

impl<'a> Source<'a> {
    /// The column of a table.
    pub fn column(ty: NumberType, n_hint: u64, next: Next<'a>) -> Self {
        Source { ty, n_hint, kind: Kind::Column(next) }
    }

    /// Open a column that is to become `to`; `ty` is the type of bare numbers.
    ///
    /// # Errors
    /// A bad header; an array that is no column; bare numbers without a type.
    pub fn open(input: &Input, from: Format, to: Format, ty: Option<NumberType>) -> Result<Self> {
        let mut reader = open(input)?;
        match from {
            Format::Npy => {
                let (header, at) = NpyHeader::read(&mut reader)?;
                if !header.is_column() {
                    return Err(no_column(&header, to));
                }
                let left = Some(header.data_bytes()?);
                let kind = Kind::Bytes { reader, left, at, big_endian: header.big_endian };
                Ok(Source { ty: header.ty, n_hint: header.count()?, kind })
            }
            Format::Raw => {
                let ty = ty.ok_or_else(|| {
                    Failure::usage("bare numbers need their type")
                        .hint("add --type u8|u16|u32|u64|i8|i16|i32|i64|f16|f32|f64")
                })?;
                let n_hint = input.size().unwrap_or(0) / ty.bytes() as u64;
                Ok(Source { ty, n_hint, kind: bare(reader) })
            }
            Format::Pco => {
                let mut decoder = Decoder::new(reader, Limits::default())?;
                let n_hint = decoder.n_hint();
                let Some(ty) = decoder.number_type()? else {
                    return Err(no_type(&mut decoder, false));
                };
                Ok(Source { ty, n_hint, kind: Kind::Pco(Box::new(decoder)) })
            }
            other => Err(Failure::new(format!("{other} is not read as one column"))),
        }
    }

    /// Type of the numbers.
    pub fn number_type(&self) -> NumberType {
        self.ty
    }

    /// How many numbers there may be.
    pub fn n_hint(&self) -> u64 {
        self.n_hint
    }

    /// The next `max` numbers as bytes, fewer only at the end; none after it.
    ///
    /// # Errors
    /// I/O; an input that ends early, goes on for too long, or ends inside of a number.
    pub fn next(&mut self, max: usize) -> Result<Vec<u8>> {
        let width = self.ty.bytes();
        match &mut self.kind {
            Kind::Column(next) => next(max),
            Kind::Pco(decoder) => {
                let bytes = next_pco(decoder, self.ty, max)?;
                if bytes.len() / width < max {
                    ending(decoder, false)?;
                }
                Ok(bytes)
            }
            Kind::Bytes { reader, left, at, big_endian } => {
                let most = (max as u64).saturating_mul(width as u64);
                let want = left.map_or(most, |left| left.min(most));
                let mut bytes = Vec::new();
                // `read_to_end` grows the buffer with what is really there.
                reader.take(want).read_to_end(&mut bytes)?;
                let have = bytes.len() as u64;
                *at += have;
                if let Some(left) = left {
                    *left -= have;
                    if have < want {
                        return Err(Failure::new(format!(
                            "truncated: the array ends {} bytes before what its shape says",
                            *left
                        ))
                        .at_byte(*at)
                        .hint("the file ends too early"));
                    }
                    if *left == 0 && has_more(reader)? {
                        return Err(Failure::new("corrupt: bytes follow the array")
                            .at_byte(*at)
                            .hint("a .npy file holds one array and nothing after it"));
                    }
                }
                let odd = have % width as u64;
                if odd != 0 {
                    return Err(Failure::new(format!(
                        "truncated: the last {} has {odd} of its {width} bytes",
                        self.ty
                    ))
                    .at_byte(*at - odd)
                    .hint("is --type right?"));
                }
                if *big_endian {
                    bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
                }
                Ok(bytes)
            }
        }
    }
}

/// Bare numbers, from the first one.
fn bare<'a>(reader: Reader) -> Kind<'a> {
    Kind::Bytes { reader, left: None, at: 0, big_endian: false }
}

/// What is said of an array that a format of one column does not describe.
fn no_column(header: &NpyHeader, to: Format) -> Failure {
    Failure::usage(format!(
        "a .{to} holds one column, this array is {} of shape {}{}",
        header.descr(),
        header.shape_text(),
        if header.fortran { " in Fortran order" } else { "" }
    ))
    .hint("a .pco.zip holds it as it is: -o NAME.pco.zip, or --to pco.zip")
}

/// Whether anything is left to read.
fn has_more(reader: &mut impl Read) -> io::Result<bool> {
    loop {
        match reader.read(&mut [0]) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => return Ok(other? > 0),
        }
    }
}
