//! Types of numbers, and what a caller may choose.

use crate::failure::Failure;
use crate::raw::{self, Checked, Options};
use crate::watch::{lt_watch, watch};
use latens::pco::Config;
use latens::{Limits, NumberType, Watch};
use std::ffi::{c_char, c_void};

/// In lt_decode_options: no limit.
pub const LT_UNLIMITED: u64 = 0xffff_ffff_ffff_ffff;

/// A type of numbers, by the byte that stands for it in Pco files.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are the types of the same name")]
pub enum lt_type {
    /// In a request: the one that the file says. In an answer: the file says none.
    Any = 0,
    U32 = 1,
    U64 = 2,
    I32 = 3,
    I64 = 4,
    F32 = 5,
    F64 = 6,
    U16 = 7,
    I16 = 8,
    /// IEEE half precision; in C an uint16_t with its bits.
    F16 = 9,
    U8 = 10,
    I8 = 11,
}

/// Bytes of a number of a type: 1, 2, 4 or 8; 0 where there is no such type.
#[unsafe(no_mangle)]
pub extern "C" fn lt_type_size(r#type: u32) -> usize {
    wanted(r#type).ok().flatten().map_or(0, NumberType::bytes)
}

/// The type of that number; `None` for any.
pub(crate) fn wanted(number: u32) -> Checked<Option<NumberType>> {
    if number == lt_type::Any as u32 {
        return Ok(None);
    }
    let ty = u8::try_from(number).ok().and_then(NumberType::from_pco_byte);
    ty.map(Some).ok_or_else(|| Failure::invalid(format!("{number} is no type; see lt_type")))
}

/// The type of that number, where there must be one.
pub(crate) fn known(number: u32) -> Checked<NumberType> {
    wanted(number)?.ok_or_else(|| Failure::invalid("the type of the numbers must be said"))
}

/// What the caller is told of a type.
pub(crate) fn number_of(ty: Option<NumberType>) -> u32 {
    ty.map_or(lt_type::Any as u32, |ty| u32::from(ty.pco_byte()))
}

/// Threads, as the library counts them: there, too, 0 stands for as many as there are cores.
pub(crate) fn threads(asked: u32) -> usize {
    usize::try_from(asked).unwrap_or(usize::MAX)
}

/// Settings of a Pco encoder. NULL in place of one stands for the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lt_pco_options {
    /// Bytes of this structure, as lt_pco_options_init sets it.
    pub size: usize,
    /// 0 (fastest) to 12 (smallest); 8.
    pub level: u32,
    /// Threads at work; 0 for as many as there are cores; 1. The bytes do not depend on it.
    pub threads: u32,
    /// "auto", "classic", "int-mult@7", "trend@3600", "float-mult@0.01", "float-quant@29", "dict". NULL: "auto".
    pub mode: *const c_char,
    /// "auto", "none", "consecutive@2", "lookback", "conv1@8"; "+secondary" behind consecutive and
    /// lookback covers the secondary latents too. NULL: "auto".
    pub delta: *const c_char,
    /// "speed", "balanced", "size": what may be given up for what. NULL: "balanced".
    pub favor: *const c_char,
    /// Most numbers in a chunk, 1 to 2^24; 0 lets the encoder choose.
    pub chunk_n: usize,
    /// Whether a standalone file ends with checksums, which other readers skip: 1 or 0; 1.
    pub checksum: u32,
    /// 0.
    pub reserved: u32,
    /// Told of what is done, and asked whether to go on; NULL.
    pub watch: lt_watch,
    /// What it is called with; NULL.
    pub watch_data: *mut c_void,
}

// SAFETY: integers and pointers, beginning with a size.
unsafe impl Options for lt_pco_options {}

impl lt_pco_options {
    fn new(size: usize) -> Self {
        let auto = std::ptr::null();
        let (mode, delta, favor) = (auto, auto, auto);
        Self {
            size,
            level: 8,
            threads: 1,
            mode,
            delta,
            favor,
            chunk_n: 0,
            checksum: 1,
            reserved: 0,
            watch: None,
            watch_data: std::ptr::null_mut(),
        }
    }
}

/// Fills `options`, which has `size` (sizeof *options) bytes, with the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_pco_options_init(options: *mut lt_pco_options, size: usize) {
    // SAFETY: the caller promises `size` bytes.
    unsafe { raw::init(options, size, lt_pco_options::new(size)) };
}

/// Settings of an encoder, understood.
pub(crate) struct Encode {
    pub(crate) config: Config,
    pub(crate) threads: usize,
    pub(crate) watch: Watch,
}

/// The library's settings.
///
/// # Safety
/// As [`raw::options`]; the strings end with a NUL.
pub(crate) unsafe fn encode(options: *const lt_pco_options) -> Checked<Encode> {
    let default = lt_pco_options::new(size_of::<lt_pco_options>());
    // SAFETY: promised.
    let options = unsafe { raw::options(options, default, "pco_options")? };
    // SAFETY: promised.
    let (mode, delta, favor) = unsafe {
        (
            raw::text(options.mode, "mode")?,
            raw::text(options.delta, "delta")?,
            raw::text(options.favor, "favor")?,
        )
    };
    if options.checksum > 1 || options.reserved != 0 {
        return Err(Failure::invalid("pco_options: checksum is 0 or 1, reserved fields are 0"));
    }
    let mut config = Config::default().level(options.level).checksum(options.checksum == 1);
    if let Some(mode) = mode {
        config = config.mode(mode.parse()?);
    }
    if let Some(delta) = delta {
        config = config.delta(delta.parse()?);
    }
    if let Some(favor) = favor {
        config = config.favor(favor.parse()?);
    }
    if options.chunk_n > 0 {
        config = config.chunk_n(options.chunk_n);
    }
    let watch = watch(options.watch, options.watch_data);
    Ok(Encode { config, threads: threads(options.threads), watch })
}

/// What a decoder may emit and allocate, and how it works. NULL in place of one stands for the
/// defaults, which bound neither output nor memory: set limits where input comes from strangers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lt_decode_options {
    /// Bytes of this structure, as lt_decode_options_init sets it.
    pub size: usize,
    /// Most bytes of numbers that may be decoded; LT_UNLIMITED. Of a .wcodec: by one call, what it is asked for, all of
    /// a tensor, rows or a slice, also where they go to the caller's memory; all of a tensor where rows cannot be decoded
    /// by themselves; of files that are written all of each, and each tensor of one that is verified. It bounds
    /// nothing that is told of tensors, such as layouts.
    pub max_output: u64,
    /// Most bytes that tables, dictionaries and windows of a chunk may take; LT_UNLIMITED. Of a .wcodec: the
    /// index, which is read when it is opened, the tables, a descriptor, each for itself; and, where they have more than
    /// max_output, each tensor that explains another one, such as scales, and groups of few bytes that are decoded for a
    /// row among them.
    pub max_alloc: u64,
    /// Threads at work; 0 for as many as there are cores; 1. With DELTA_BINARY_PACKED more pay to memory
    /// that is not in use yet, as lt_dbp_decode's is.
    pub threads: u32,
    /// DELTA_BINARY_PACKED: whether what writers must not do is refused, 1 or 0; 0.
    pub strict: u32,
    /// DELTA_BINARY_PACKED: the count of values that the stream must have; LT_UNLIMITED for any.
    pub expect_count: u64,
    /// Most slots that the tables of a Pco file may have in all beyond eight for each number of their
    /// chunk; 2^22, which no file of the encoders known comes near.
    pub max_spare_slots: u64,
    /// 0.
    pub reserved: u64,
    /// Told of what is done, and asked whether to go on; NULL. Of a .wcodec file it holds, as all
    /// options do, until that is closed.
    pub watch: lt_watch,
    /// What it is called with; NULL.
    pub watch_data: *mut c_void,
}

// SAFETY: integers and pointers, beginning with a size.
unsafe impl Options for lt_decode_options {}

impl lt_decode_options {
    pub(crate) fn new(size: usize) -> Self {
        let (max_output, max_alloc, expect_count) = (LT_UNLIMITED, LT_UNLIMITED, LT_UNLIMITED);
        let max_spare_slots = Limits::default().max_spare_slots;
        Self {
            size,
            max_output,
            max_alloc,
            threads: 1,
            strict: 0,
            expect_count,
            max_spare_slots,
            reserved: 0,
            watch: None,
            watch_data: std::ptr::null_mut(),
        }
    }
}

/// Fills `options`, which has `size` (sizeof *options) bytes, with the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_decode_options_init(options: *mut lt_decode_options, size: usize) {
    // SAFETY: the caller promises `size` bytes.
    unsafe { raw::init(options, size, lt_decode_options::new(size)) };
}

/// Settings of a decoder, understood.
pub(crate) struct Decode {
    pub(crate) limits: Limits,
    pub(crate) threads: usize,
    pub(crate) strict: bool,
    pub(crate) expect_count: Option<u64>,
    pub(crate) watch: Watch,
}

/// The library's settings.
///
/// # Safety
/// As [`raw::options`].
pub(crate) unsafe fn decode(options: *const lt_decode_options) -> Checked<Decode> {
    let default = lt_decode_options::new(size_of::<lt_decode_options>());
    // SAFETY: promised.
    let options = unsafe { raw::options(options, default, "decode_options")? };
    if options.strict > 1 || options.reserved != 0 {
        return Err(Failure::invalid("decode_options: strict is 0 or 1, reserved fields are 0"));
    }
    Ok(Decode {
        limits: Limits::default()
            .max_output(options.max_output)
            .max_alloc(options.max_alloc)
            .max_spare_slots(options.max_spare_slots),
        threads: threads(options.threads),
        strict: options.strict == 1,
        expect_count: Some(options.expect_count).filter(|n| *n != LT_UNLIMITED),
        watch: watch(options.watch, options.watch_data),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_the_format() {
        for ty in NumberType::ALL {
            let number = number_of(Some(ty));
            assert_eq!(known(number).unwrap(), ty);
            assert_eq!(lt_type_size(number), ty.bytes());
        }
        assert_eq!(known(lt_type::F16 as u32).unwrap(), NumberType::F16);
        assert_eq!(known(lt_type::I8 as u32).unwrap(), NumberType::I8);
        assert!(known(0).is_err() && known(12).is_err() && known(u32::MAX).is_err());
        assert_eq!((lt_type_size(0), lt_type_size(256 + 1)), (0, 0));
    }

    #[test]
    fn the_defaults_are_the_library_s() {
        // SAFETY: NULL.
        let found = unsafe { encode(std::ptr::null()) }.unwrap();
        assert_eq!((found.config, found.threads), (Config::default(), 1));
        assert_eq!(found.watch, Watch::NONE);
        // SAFETY: NULL.
        let found = unsafe { decode(std::ptr::null()) }.unwrap();
        assert_eq!((found.limits, found.expect_count), (Limits::default(), None));
        assert_eq!(found.watch, Watch::NONE);
    }
}
