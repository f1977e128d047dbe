//! Checkpoint files: which tensors they hold, where their bytes are, and how those are packed.
//!
//! A file is a list of [`Segment`]s that leave out no byte: headers and gaps as they are, and
//! tensors. Nothing but headers is ever held in memory; bytes are read by position.
//!
//! | module | reads |
//! |---|---|
//! | `safetensors` | one `.safetensors` file |
//! | `sharded` | a `*.safetensors.index.json` and its shards |
//! | `gguf` | a GGUF file, version 2 or 3 |
//! | `tensors` | nothing: makes one of tensors in memory |
//! | `format` | the first bytes of a file, which tell its kind |
//! | `detect` | the packing of each tensor, from names, types, shapes and metadata |
//! | `packings` | nothing: packings that a caller says tensors have |

mod detect;
mod format;
mod gguf;
mod members;
mod packings;
mod quantization;
mod safetensors;
mod segments;
mod sharded;
mod source;
mod tensors;
#[cfg(test)]
mod tests;

pub(super) use detect::{Neighbours, tells_nothing, told_cols, view as told_view, wide};
pub use detect::{Siblings, scale_block};
pub use format::Format;
pub(super) use packings::all_matched;
pub use quantization::{LayerQuantization, Quantization};
pub(super) use safetensors::{LONGEST_HEADER, metadata_of};
pub(crate) use segments::LONGEST_PADDING;
pub use segments::Segment;
pub use sharded::Mismatch;
pub use source::{ReadAt, open_file};
pub use tensors::Tensors;
pub(super) use tensors::{Member, header_of};

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use super::dtype::Dtype;
use super::view::{Layout, View};
use crate::error::{Error, Result};

/// Longest name of a tensor, in bytes. Tensors with longer names are kept as bytes of their file.
pub const LONGEST_NAME: usize = 1024;

/// A checkpoint: one file, or several that belong together.
pub struct Checkpoint {
    /// The kind of its files.
    pub format: Format,
    /// Its files: of a sharded checkpoint the index first, then the shards as it names them.
    pub files: Vec<SourceFile>,
    /// Its tensors, by file and place.
    pub tensors: Vec<TensorInfo>,
    /// How many more there are whose names are longer than [`LONGEST_NAME`] or no text, or that have more than 32
    /// dimensions: they are kept as bytes of their file.
    pub unnamed: usize,
    /// Where the index of a sharded checkpoint and its shards differ, as far as that is no error.
    pub mismatches: Vec<Mismatch>,
    /// What the metadata says of the quantisation.
    pub quantization: Quantization,
    /// What the first of its files says that says anything.
    within: Quantization,
    sources: Vec<Arc<dyn ReadAt>>,
}

/// One file of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its name, without folders.
    pub name: String,
    /// Its bytes.
    pub len: u64,
    /// What it is made of: concatenated they are the file.
    pub segments: Vec<Segment>,
}

/// What is known of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    /// Its name, unique in the checkpoint, at most [`LONGEST_NAME`] bytes.
    pub name: String,
    /// Type of its elements, as the file says.
    pub dtype: Dtype,
    /// What the file calls a type that this version does not know, where that has 1 to 16 bytes.
    pub unknown: Option<String>,
    /// Its shape as the file says, the dimension that varies fastest last.
    pub shape: Vec<u64>,
    /// The file that holds it.
    pub file: usize,
    /// Byte of that file where it begins.
    pub offset: u64,
    /// Its bytes.
    pub len: u64,
    /// How its bytes are best taken apart, as far as names and types tell. It fits.
    ///
    /// A caller may set another one before compressing, where names do not tell of the packing: it is the
    /// first that is tried, up to level 8 mostly the only one. The bytes come back whatever it is, as
    /// a view that does not fit, or does not give them back, is not used, and the tensor then stored as
    /// bytes. What readers take the tensor to mean follows from it, where it tells anything.
    pub view: View,
    /// Whether whoever compresses says so ([`Config::packing`](crate::wcodec::Config::packing)): then no other is tried,
    /// nor are its bytes.
    pub(crate) is_settled: bool,
    /// Tensors that belong to it.
    pub siblings: Siblings,
}

impl TensorInfo {
    /// The name of its type, as the file spells it.
    pub fn type_name(&self) -> &str {
        self.unknown.as_deref().unwrap_or(self.dtype.name())
    }

    /// The layout of the tensor under its view.
    pub fn layout(&self) -> Option<Layout> {
        self.view.layout(self.dtype, &self.shape, self.len)
    }

    /// Views that are worth trying where size counts, the likeliest first. All of them fit.
    pub fn candidates(&self) -> Vec<View> {
        let others = detect::alternatives(self.dtype, self.view).into_iter();
        let fits = |view: &View| view.layout(self.dtype, &self.shape, self.len).is_some();
        std::iter::once(self.view).chain(others.filter(fits)).collect()
    }
}

impl fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { format, files, tensors, unnamed, quantization, .. } = self;
        let mut checkpoint = f.debug_struct("Checkpoint");
        checkpoint.field("format", format).field("files", files).field("tensors", tensors);
        checkpoint
            .field("unnamed", unnamed)
            .field("quantization", quantization)
            .finish_non_exhaustive()
    }
}

impl Checkpoint {
    /// Opens a `.safetensors` or `.gguf` file, or the `*.safetensors.index.json` of several. Reads
    /// headers, and `config.json` or `quantize_config.json` beside the file where there is one.
    ///
    /// # Errors
    /// I/O where a file cannot be read; corrupt or truncated, with the tensor's name and the byte,
    /// where it is not what it should be.
    pub fn open(path: &Path) -> Result<Self> {
        let named = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
        let name = named(path).ok_or_else(|| Error::invalid("this is not the name of a file"))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let open = |path: &Path| -> Result<Box<dyn ReadAt>> { Ok(Box::new(open_file(path)?)) };
        let hints = |name: &str| {
            let source = open(&folder.join(name)).ok()?;
            source::read_all(&*source, quantization::LONGEST_CONFIG).ok()
        };
        let quantization =
            Quantization::from_files(hints("config.json"), hints("quantize_config.json"));
        let source = open(path).map_err(|e| e.within(path.display().to_string()))?;
        Self::read(name, source, quantization, &|name| open(&folder.join(name)))
    }

    /// A checkpoint from a source of bytes; `shard` opens the files that an index names.
    ///
    /// # Errors
    /// Those of [`Checkpoint::open`].
    pub fn read(
        name: String,
        source: Box<dyn ReadAt>,
        quantization: Quantization,
        shard: &dyn Fn(&str) -> Result<Box<dyn ReadAt>>,
    ) -> Result<Self> {
        let telling = source.size()?.min(Format::TELLING as u64);
        let kind = Format::of_start(&source::read(&*source, 0, telling)?);
        let called = |extension| {
            Path::new(&name).extension().is_some_and(|e| e.eq_ignore_ascii_case(extension))
        };
        let mut listing = if kind == Some(Format::Gguf) {
            gguf::read(name, source)?
        } else if called("gguf") {
            let what = match kind {
                Some(Format::Safetensors) => "this begins as a safetensors file does, not as GGUF",
                _ => "a GGUF file begins with `GGUF`, this one does not",
            };
            return Err(Error::corrupt(0, what));
        } else if called("json") {
            sharded::read(name, source, shard)?
        } else {
            safetensors::read(name, source)?
        };
        listing.quantization.or(quantization);
        detect::detect(&mut listing);
        Ok(listing)
    }

    /// What is known of the quantisation that its files do not say.
    pub(crate) fn told_beside(&self) -> Option<&Quantization> {
        Some(&self.quantization).filter(|told| **told != self.within)
    }

    /// Size and time of each file as they are now: another one means that it has been written to.
    pub(crate) fn stamps(&self) -> Result<Vec<(u64, Option<SystemTime>)>> {
        self.sources.iter().map(|source| Ok((source.size()?, source.written()))).collect()
    }

    /// Reads `buf.len()` bytes of a file from `offset` on.
    ///
    /// # Errors
    /// I/O, also where the file has become shorter than it was; invalid argument where there is
    /// no such file.
    pub fn read_at(&self, file: usize, offset: u64, buf: &mut [u8]) -> Result<()> {
        let source = self.sources.get(file).ok_or_else(|| Error::invalid("no such file"))?;
        source.read_exact_at(buf, offset).map_err(|e| Error::from(e).at_byte(offset))
    }

    /// Reads the bytes `from .. from + buf.len()` of a tensor.
    ///
    /// # Errors
    /// Those of [`Checkpoint::read_at`]; invalid argument beyond the tensor's end.
    pub fn read_tensor(&self, tensor: usize, from: u64, buf: &mut [u8]) -> Result<()> {
        let t = self.tensors.get(tensor).ok_or_else(|| Error::invalid("no such tensor"))?;
        let end = u64::try_from(buf.len()).ok().and_then(|n| n.checked_add(from));
        if end.is_none_or(|end| end > t.len) {
            return Err(
                Error::invalid("these bytes are beyond the tensor's end").within(quoted(&t.name))
            );
        }
        self.read_at(t.file, t.offset + from, buf).map_err(|e| e.within(quoted(&t.name)))
    }

    /// The bytes of a tensor where the source has them in memory.
    pub(crate) fn held(&self, tensor: usize) -> Option<&[u8]> {
        let t = self.tensors.get(tensor)?;
        self.sources.get(t.file)?.held(t.offset, usize::try_from(t.len).ok()?)
    }
}

/// How an error names a tensor: escaped, and not at any length.
fn quoted(name: &str) -> String {
    let mut end = name.len().min(200);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let more = if end < name.len() { "…" } else { "" };
    format!("tensor {:?}{more}", &name[..end])
}
