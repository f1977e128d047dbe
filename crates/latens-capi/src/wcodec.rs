//! Opening `.wcodec` files, and what they say of their tensors.

use crate::error::{guard, lt_error, lt_status, quiet};
use crate::failure::Failure;
use crate::options::{Decode, decode, lt_decode_options};
use crate::raw::{self, Checked};
use crate::source::{Source, path};
use crate::tensor::{Tensor, with_nul};
use latens::wcodec::checkpoint::Checkpoint;
use latens::wcodec::{Base, BaseCheckpoint, Reader};
use std::ffi::{c_char, c_void};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

/// An open .wcodec file. Several threads may read from it.
pub struct lt_wcodec_reader {
    pub(crate) reader: Reader<Source>,
    /// Entries that are tensors.
    numbers: Vec<u32>,
    /// What callers have asked for, and may look at until the file is closed.
    told: Vec<OnceLock<Box<Tensor>>>,
    memory: Option<&'static [u8]>,
    /// What is wrong with a file that was opened in spite of it: bytes, and words with a NUL at the end.
    pub(crate) damage: Vec<(u64, Vec<u8>)>,
}

impl lt_wcodec_reader {
    fn open(source: Source, settings: &Decode, base: Option<&Path>) -> Checked<Self> {
        Self::of(source, settings, base, |source| {
            Ok((Reader::open(source, settings.limits)?, Vec::new()))
        })
    }

    /// The same in spite of damage beside the tensors.
    pub(crate) fn salvage(source: Source, settings: &Decode, base: Option<&Path>) -> Checked<Self> {
        Self::of(source, settings, base, |source| {
            let found = Reader::salvage(source, settings.limits)?;
            Ok((
                found.reader,
                found.damage.into_iter().map(|d| (d.at, with_nul(&d.what))).collect(),
            ))
        })
    }

    fn of(
        source: Source,
        settings: &Decode,
        base: Option<&Path>,
        open: impl FnOnce(Source) -> latens::Result<(Reader<Source>, Vec<(u64, Vec<u8>)>)>,
    ) -> Checked<Self> {
        let memory = match &source {
            Source::Memory(bytes) => Some(*bytes),
            Source::File(_) => None,
        };
        let (reader, damage) = open(source)?;
        let mut reader = reader.threads(settings.threads);
        if let Some(path) = base {
            reader = reader.with_base(self::base(path, settings)?)?;
        }
        let reader = reader.watched(&settings.watch);
        let count = reader.tensors().count();
        let mut numbers = Vec::with_capacity(count);
        numbers.extend(reader.tensors().filter_map(|(number, _)| u32::try_from(number).ok()));
        let told = std::iter::repeat_with(OnceLock::new).take(numbers.len()).collect();
        Ok(Self { reader, numbers, told, memory, damage })
    }

    /// What is decoded must not go to the memory that it is decoded from.
    pub(crate) fn apart(&self, data: *const c_void, size: usize) -> Checked<()> {
        match &self.memory {
            Some(bytes) => raw::apart(bytes.as_ptr(), bytes.len(), data.cast::<u8>(), size),
            None => Ok(()),
        }
    }

    /// Tensor `index` of those that the caller sees.
    pub(crate) fn tensor(&self, index: usize) -> Checked<&Tensor> {
        let count = self.numbers.len();
        let none = || Failure::invalid(format!("tensor {index} of {count}"));
        let told = self.told.get(index).ok_or_else(none)?;
        if let Some(tensor) = told.get() {
            return Ok(tensor);
        }
        let number = self.numbers.get(index).map_or(usize::MAX, |&number| number as usize);
        let entry = self.reader.entry(number).ok_or_else(none)?;
        Ok(told.get_or_init(|| Box::new(Tensor::new(number, entry))))
    }

    /// Which of the tensors that the caller sees has this name.
    fn find(&self, name: &str) -> Option<usize> {
        let number = u32::try_from(self.reader.find(name)?).ok()?;
        self.numbers.binary_search(&number).ok()
    }
}

/// What a file says of a tensor. The pointers live until the file is closed.
#[repr(C)]
pub struct lt_wcodec_tensor {
    /// Its name in UTF-8, with a NUL at the end.
    pub name: *const c_char,
    /// Bytes of the name without that NUL; names may hold others.
    pub name_size: usize,
    /// Its type as the checkpoint spells it: "BF16", "I8", "Q4_K".
    pub dtype: *const c_char,
    /// Its dimensions, the one that varies fastest last.
    pub shape: *const u64,
    /// How many dimensions.
    pub dimensions: usize,
    /// Bytes when decoded.
    pub bytes: u64,
    /// Bytes in the file; 0 where it shares those of another tensor.
    pub stored_bytes: u64,
    /// 0.
    pub reserved: [u64; 4],
}

/// The checkpoint at `path` as a base: a `.wcodec`, or what one is made from.
fn base(path: &Path, settings: &Decode) -> Checked<Box<dyn Base>> {
    let named = |e: io::Error| Failure::new(lt_status::Io, format!("I/O: {}: {e}", path.display()));
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("wcodec")) {
        let file = File::open(path).map_err(named)?;
        return Ok(Box::new(Reader::open(file, settings.limits)?));
    }
    Ok(Box::new(BaseCheckpoint::new_with(Checkpoint::open(path)?, &settings.watch)?))
}

/// Opens `source` to `*reader`, in the way that is said.
///
/// # Safety
/// As `raw` asks for of each pointer.
pub(crate) unsafe fn open_to(
    source: impl FnOnce() -> Checked<Source>,
    (base, options): (*const c_char, *const lt_decode_options),
    open: fn(Source, &Decode, Option<&Path>) -> Checked<lt_wcodec_reader>,
    reader: *mut *mut lt_wcodec_reader,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: promised.
    guard(error, || unsafe {
        raw::store(reader, std::ptr::null_mut());
        raw::required(reader, "reader")?;
        let settings = decode(options)?;
        let made = open(source()?, &settings, path(base, "base")?)?;
        raw::store(reader, Box::into_raw(Box::new(made)));
        Ok(())
    })
}

/// Opens the file at `path`: `*reader`, to be closed by lt_wcodec_close. Its head and index are read,
/// nothing else. `base` is the path of the checkpoint against which the file was coded, NULL where
/// there is none; `options`, which hold until the file is closed, may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_open(
    path: *const c_char,
    base: *const c_char,
    options: *const lt_decode_options,
    reader: *mut *mut lt_wcodec_reader,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    unsafe { open_to(|| Source::at(path), (base, options), lt_wcodec_reader::open, reader, error) }
}

/// Opens a file that lies in memory, as lt_wcodec_open does. The memory is not copied: it stays as it
/// is until the file is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_open_memory(
    file: *const c_void,
    file_size: usize,
    base: *const c_char,
    options: *const lt_decode_options,
    reader: *mut *mut lt_wcodec_reader,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for, of the file until it is closed.
    unsafe {
        let source = || Source::held(file, file_size);
        open_to(source, (base, options), lt_wcodec_reader::open, reader, error)
    }
}

/// Closes a file. NULL is no error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_close(reader: *mut lt_wcodec_reader) {
    // SAFETY: NULL, or an open file that no thread reads from, as the caller promises.
    quiet((), || unsafe { raw::free(reader) });
}

/// Tensors of a file, which are counted from 0; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_tensor_count(reader: *const lt_wcodec_reader) -> usize {
    // SAFETY: the caller promises what `raw` asks for.
    quiet(0, || unsafe { raw::reference(reader, "reader").map_or(0, |held| held.numbers.len()) })
}

/// The index of the tensor of a name: `*index`. After an error it is SIZE_MAX, which no tensor has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_find(
    reader: *const lt_wcodec_reader,
    name: *const c_char,
    index: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(index, "index")?;
        raw::store(index, usize::MAX);
        let held = raw::reference(reader, "reader")?;
        let name = raw::text(name, "name")?.ok_or_else(|| Failure::invalid("name is NULL"))?;
        let none = || Failure::invalid(format!("there is no tensor {name:?} in the file"));
        raw::store(index, held.find(name).ok_or_else(none)?);
        Ok(())
    })
}

/// What the file says of tensor `index`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_tensor_info(
    reader: *const lt_wcodec_reader,
    index: usize,
    info: *mut lt_wcodec_tensor,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(info, "info")?;
        let tensor = raw::reference(reader, "reader")?.tensor(index)?;
        let told = lt_wcodec_tensor {
            name: tensor.name.as_ptr().cast(),
            name_size: tensor.name.len() - 1,
            dtype: tensor.dtype.as_ptr().cast(),
            shape: tensor.shape.as_ptr(),
            dimensions: tensor.shape.len(),
            bytes: tensor.bytes as u64,
            stored_bytes: tensor.stored as u64,
            reserved: [0; 4],
        };
        raw::store(info, told);
        Ok(())
    })
}

/// SHA-256 over names, types, shapes and bytes of all tensors, to 32 bytes at `hash`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_model_hash(
    reader: *const lt_wcodec_reader,
    hash: *mut u8,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(hash, "hash")?;
        let held = raw::reference(reader, "reader")?;
        raw::store(hash.cast::<[u8; 32]>(), held.reader.model_hash());
        Ok(())
    })
}
