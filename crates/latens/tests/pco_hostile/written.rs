//! Chunks written field by field, and what must come of a file.

use crate::common::fields::Fields;
use latens::{ErrorKind, NumberType};

/// What must come of a file.
pub(super) enum Verdict {
    /// Kind, byte, and part of the message.
    Refused(ErrorKind, u64, &'static str),
    /// The bits of the numbers.
    Decoded(NumberType, Vec<u64>),
}
pub(super) use Verdict::{Decoded, Refused};

pub(super) struct Hostile {
    pub(super) name: &'static str,
    pub(super) attacks: &'static str,
    pub(super) file: Vec<u8>,
    pub(super) verdict: Verdict,
    /// Whether pco 1.1.0 gives numbers, of whatever sort.
    pub(super) pco_accepts: bool,
}

pub(super) const CORRUPT: ErrorKind = ErrorKind::Corrupt;
pub(super) const TRUNCATED: ErrorKind = ErrorKind::Truncated;

pub(super) const U32: u8 = 1;
pub(super) const U64: u8 = 2;
pub(super) const F32: u8 = 5;
pub(super) const U8: u8 = 10;
pub(super) const F16: u8 = 9;

/// A file up to the metadata of a chunk of three numbers (byte 13).
pub(super) fn start(type_byte: u8) -> Fields {
    Fields::head(0, 3).chunk(type_byte, 3)
}

/// Classic without deltas, up to the primary variable (byte 14).
pub(super) fn classic(type_byte: u8) -> Fields {
    start(type_byte).field(0, 4).field(0, 4)
}

/// One bin of u32 that needs no offsets, and the rest of the chunk; ends on a byte.
pub(super) fn sevens(fields: Fields) -> Fields {
    fields.variable(32, 0, &[(1, 7, 0)]).pad()
}

/// The file of three sevens, up to its terminator (byte 22).
pub(super) fn three_sevens() -> Fields {
    sevens(classic(U32))
}

/// A whole file with a checksum trailer whose fields are as given, its own checksum right.
pub(super) fn with_trailer(bytes: u32, n: u32, version: u8) -> Vec<u8> {
    let file = three_sevens().end();
    let chunk = &file[9..file.len() - 1];
    let numbers: Vec<u8> = [7u32; 3].iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut trailer = Vec::new();
    trailer.extend(bytes.to_le_bytes());
    trailer.extend(n.to_le_bytes());
    trailer.extend(crc_fast::crc32_iscsi(chunk).to_le_bytes());
    trailer.extend(crc_fast::crc32_iscsi(&numbers).to_le_bytes());
    trailer.extend(crc_fast::crc32_iscsi(&file[..9]).to_le_bytes());
    trailer.extend(1u32.to_le_bytes());
    trailer.extend(crc_fast::crc32_iscsi(&trailer).to_le_bytes());
    trailer.extend(b"LATENSC");
    trailer.push(version);
    [file, trailer].concat()
}

pub(super) fn conv1(fields: Fields, q: u64, bias: i64, weights: &[i32]) -> Fields {
    let fields = fields
        .field(0, 4)
        .field(3, 4)
        .field(q, 5)
        .field(bias.cast_unsigned() ^ 1 << 63, 64)
        .field(weights.len() as u64 - 1, 5);
    weights.iter().fold(fields, |f, w| f.field(u64::from(w.cast_unsigned() ^ 1 << 31), 32))
}

/// Lookback without secondary, up to its delta variable.
pub(super) fn lookback(window_log: u64, state_log: u64) -> Fields {
    start(U32).field(0, 4).field(2, 4).field(window_log - 1, 5).field(state_log, 4).field(0, 1)
}

/// A float of mode FloatMult with that base, joined from two constants.
pub(super) fn float_mult(base: u64, multiple: u64) -> Fields {
    start(F32)
        .field(2, 4)
        .field(base, 32)
        .field(0, 4)
        .variable(32, 0, &[(1, multiple, 0)])
        .variable(32, 0, &[(1, 1 << 31, 0)])
        .pad()
}

pub(super) fn float_quant(type_byte: u8, k: usize, q: u64, high: u64, low: u64) -> Fields {
    start(type_byte)
        .field(3, 4)
        .field(q, 8)
        .field(0, 4)
        .variable(k, 0, &[(1, high, 0)])
        .variable(k, 0, &[(1, low, 0)])
        .pad()
}

pub(super) fn dict(count: u64, values: &[u64], index: u64) -> Fields {
    let fields = start(U32).field(4, 4).field(count, 25).pad();
    let fields = values.iter().fold(fields, |f, &v| f.field(v, 32));
    fields.field(0, 4).variable(32, 0, &[(1, index, 0)]).pad()
}

/// The sevens that come of [`three_sevens`].
pub(super) fn sevens_of(n: usize) -> Verdict {
    Decoded(NumberType::U32, vec![7; n])
}

/// A delta variable of lookbacks of 1 and a primary of sevens.
pub(super) fn states(fields: Fields) -> Fields {
    fields.variable(32, 0, &[(1, 1, 0)]).variable(32, 0, &[(1, 7, 0)]).pad()
}

/// The latent of an f32's bits.
pub(super) fn ordered(bits: u32) -> u64 {
    u64::from(if bits >> 31 == 0 { bits ^ 1 << 31 } else { !bits })
}
