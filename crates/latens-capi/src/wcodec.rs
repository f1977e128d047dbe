//! Opening `.wcodec` files, and what they say of their tensors.

use crate::error::{LT_NONE, guard, lt_error, lt_status, quiet};
use crate::failure::Failure;
use crate::options::{Decode, decode, lt_decode_options};
use crate::raw::{self, Checked};
use crate::source::{Source, path};
use crate::tensor::{Tensor, with_nul};
use latens::wcodec::{Reader, open_base};
use std::ffi::{c_char, c_void};
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
    /// Names of the files that it was made of, with a NUL at the end, and their bytes.
    pub(crate) files: Vec<(Vec<u8>, u64)>,
    /// Name, with a NUL at the end, and model hash of the base.
    base: Option<(Vec<u8>, [u8; 32])>,
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
            reader = reader.with_base(open_base(path, settings.limits, &settings.watch)?)?;
        }
        let reader = reader.watched(&settings.watch);
        let count = reader.tensors().count();
        let mut numbers = Vec::with_capacity(count);
        numbers.extend(reader.tensors().filter_map(|(number, _)| u32::try_from(number).ok()));
        let told = std::iter::repeat_with(OnceLock::new).take(numbers.len()).collect();
        let files = reader.files().map(|(name, bytes)| (with_nul(name), bytes)).collect();
        let base = reader.base_name().map(|(name, hash)| (with_nul(name), hash));
        Ok(Self { reader, numbers, told, memory, files, base, damage })
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
    fn find(&self, name: &str) -> Checked<usize> {
        let found = self.reader.find(name).and_then(|number| self.index_of(number));
        found.ok_or_else(|| Failure::invalid(format!("there is no tensor {name:?} in the file")))
    }

    /// Which of the tensors that the caller sees is this entry.
    pub(crate) fn index_of(&self, number: usize) -> Option<usize> {
        self.numbers.binary_search(&u32::try_from(number).ok()?).ok()
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
    /// The index of the tensor whose bytes it shares, or LT_NONE where it has its own.
    pub copy_of: u64,
    /// 0.
    pub reserved: [u64; 3],
}

/// The checkpoint against which a file was coded. The pointer lives until the file is closed.
#[repr(C)]
pub struct lt_wcodec_base {
    /// The name of its file in UTF-8, with a NUL at the end: a hint for people. NULL where the file needs no base.
    pub name: *const c_char,
    /// Bytes of the name without that NUL; it may hold others.
    pub name_size: usize,
    /// Its model hash, as lt_wcodec_model_hash gives it: what tells it from others. 0 where there is none.
    pub model_hash: [u8; 32],
    /// 0.
    pub reserved: [u64; 4],
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
/// there is none: of a .wcodec, which must not need a base itself, the same is read, of other checkpoints all,
/// for the model hash. What is wrong with a base is told with its path, and without lt_error.offset. Paths are those of
/// regular files: others are refused before they are opened. `options`, which hold until the file is closed, may be
/// NULL.
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
        raw::store(index, held.find(name)?);
        Ok(())
    })
}

/// lt_wcodec_find for a name of `name_size` bytes, which need no NUL behind them and may hold some.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_find_sized(
    reader: *const lt_wcodec_reader,
    name: *const c_char,
    name_size: usize,
    index: *mut usize,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(index, "index")?;
        raw::store(index, usize::MAX);
        let held = raw::reference(reader, "reader")?;
        let name = raw::input::<u8>(name.cast(), name_size, "name")?;
        let name = std::str::from_utf8(name).map_err(|_| Failure::invalid("name is not UTF-8"))?;
        raw::store(index, held.find(name)?);
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
        let held = raw::reference(reader, "reader")?;
        let tensor = held.tensor(index)?;
        let copy_of = tensor.copy_of.and_then(|number| held.index_of(number));
        let told = lt_wcodec_tensor {
            name: tensor.name.as_ptr().cast(),
            name_size: tensor.name.len() - 1,
            dtype: tensor.dtype.as_ptr().cast(),
            shape: tensor.shape.as_ptr(),
            dimensions: tensor.shape.len(),
            bytes: tensor.bytes as u64,
            stored_bytes: tensor.stored as u64,
            copy_of: copy_of.map_or(LT_NONE, |index| index as u64),
            reserved: [0; 3],
        };
        raw::store(info, told);
        Ok(())
    })
}

/// The checkpoint against which the file was coded, if it was: without it tensors that are coded against it cannot be
/// decoded, and it is to be given when the file is opened. Known before that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lt_wcodec_base_info(
    reader: *const lt_wcodec_reader,
    info: *mut lt_wcodec_base,
    error: *mut lt_error,
) -> lt_status {
    // SAFETY: the caller promises what `raw` asks for.
    guard(error, || unsafe {
        raw::required(info, "info")?;
        let mut told = lt_wcodec_base {
            name: std::ptr::null(),
            name_size: 0,
            model_hash: [0; 32],
            reserved: [0; 4],
        };
        if let Some((name, model_hash)) = &raw::reference(reader, "reader")?.base {
            (told.name, told.name_size) = (name.as_ptr().cast(), name.len() - 1);
            told.model_hash = *model_hash;
        }
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
