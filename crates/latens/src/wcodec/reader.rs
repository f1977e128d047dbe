//! An open file, and what is asked of it by entry.

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::watch::Watch;
use crate::wcodec::base::Base;
use crate::wcodec::checkpoint::{Quantization, ReadAt};
use crate::wcodec::decode::pool::Pool;
use crate::wcodec::ends::{Ends, read, read_bank, read_ends};
use crate::wcodec::kept::Last;
use crate::wcodec::layout::header::{BaseQuantisation, Header};
use crate::wcodec::layout::table::Table;
use crate::wcodec::open_index::{OpenEntry, OpenIndex};
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::placed::Placed;
use crate::wcodec::woven::InParts;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// An open `.wcodec` file. In memory are the bytes of its index and at most as much again to find
/// entries by number and name, what it takes to decode a group or two, the descriptor, tables and
/// scales of the tensor opened last, of a base the tensor that slices were predicted from last, up to 4 MiB of
/// scales that nobody has asked for yet, and up to 4 MiB of buffers of decoded bytes; every function may be
/// called from several threads.
pub struct Reader<S: ReadAt> {
    pub(crate) open: Arc<Open<S>>,
    pub(crate) last: Arc<Last>,
    base: Option<Arc<dyn Base>>,
    pub(crate) threads: usize,
    /// The lowest bitplanes that slices leave out.
    pub(crate) without_planes: usize,
    pub(crate) watch: Watch,
}

/// What several handles on one file share.
pub(crate) struct Open<S> {
    pub(crate) source: Placed<S>,
    pub(crate) limits: Limits,
    pub(crate) index: OpenIndex,
    header: Header,
    pub(crate) bank: OnceLock<Vec<Table>>,
    pub(crate) pool: Pool,
    pub(crate) in_parts: InParts,
    /// What the metadata of the source files say, once somebody wants to know; none where they are damaged.
    pub(crate) quantization: OnceLock<Option<Quantization>>,
    pub(crate) index_offset: u64,
}

/// What the index says of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorEntry<'a> {
    /// Its name.
    pub name: String,
    /// Its type, as the source spells it.
    pub dtype: &'a str,
    /// Its shape.
    pub shape: Vec<u64>,
    /// Its bytes when decoded.
    pub length: usize,
    /// Its bytes in the file.
    pub stored: usize,
    /// The tensor whose bytes it shares, if it has none of its own.
    pub copy_of: Option<usize>,
}

/// Several threads may use one.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Reader<Vec<u8>>>();
};

impl<S: ReadAt> fmt::Debug for Reader<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Open { limits, index, index_offset, .. } = &*self.open;
        let mut reader = f.debug_struct("Reader");
        reader.field("entries", &index.len()).field("index_offset", index_offset);
        reader.field("limits", limits).field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl<S: ReadAt> Reader<S> {
    /// Opens a file: reads header, footer and index.
    ///
    /// # Errors
    /// I/O; corrupt or truncated, with the byte, where these are not sound.
    pub fn open(source: S, limits: Limits) -> Result<Self> {
        let found = read_ends(&source, limits)?;
        Ok(Self::of(Placed::new(source), limits, found))
    }

    /// A reader of what was found at both ends of a file.
    pub(crate) fn of(source: Placed<S>, limits: Limits, found: Ends) -> Self {
        let Ends { header, index, index_offset } = found;
        let open = Open {
            source,
            limits,
            index,
            header,
            bank: OnceLock::new(),
            in_parts: InParts::default(),
            pool: Pool::default(),
            quantization: OnceLock::new(),
            index_offset,
        };
        Self::on(open)
    }

    /// The first handle on what is open.
    pub(crate) fn on(open: Open<S>) -> Self {
        Self {
            open: Arc::new(open),
            last: Arc::default(),
            base: None,
            threads: crate::threads::count(0),
            without_planes: 0,
            watch: Watch::NONE,
        }
    }

    /// What is open, of a reader that was never handed out.
    pub(crate) fn only_handle(self) -> Result<Open<S>> {
        let open = Arc::into_inner(self.open);
        open.ok_or_else(|| Error::invalid("the file is open elsewhere"))
    }

    /// Decodes on so many threads; 0, the default, for as many as there are cores.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = crate::threads::count(threads);
        self
    }

    /// The same open file, whose calls tell `watch` of tensors that are begun and of bytes that are
    /// decoded.
    ///
    /// ```
    /// # use latens::wcodec::{Config, Reader, checkpoint::*, compress_checkpoint};
    /// # let header = br#"{"w":{"dtype":"U8","shape":[5],"data_offsets":[0,5]}}"#;
    /// # let file = [&(header.len() as u64).to_le_bytes()[..], header, b"hello"].concat();
    /// # let none = |_: &str| Err(latens::Error::invalid("no shards"));
    /// # let (name, hints) = ("m.safetensors".to_string(), Quantization::default());
    /// # let checkpoint = Checkpoint::read(name, Box::new(file), hints, &none)?;
    /// # let file = compress_checkpoint(&checkpoint, None, &Config::default(), Vec::new())?;
    /// use latens::{Limits, Watch};
    /// let reader = Reader::open(file, Limits::default())?;
    /// let show = Watch::new(|step| {
    ///     if let Some(name) = step.tensor {
    ///         eprintln!("{name}");
    ///     }
    ///     Ok(())
    /// });
    /// reader.watched(&show).verify()?;
    /// # Ok::<(), latens::Error>(())
    /// ```
    #[must_use]
    pub fn watched(&self, watch: &Watch) -> Self {
        Self { watch: watch.clone(), ..self.again() }
    }

    /// The same open file, whose [`rows`](Reader::rows) and [`slice`](Reader::slice)s leave out the lowest `planes`
    /// bitplanes of tensors that are coded in such ([`Coder::Bitplane`](super::Coder)): weights to within less than
    /// 2^planes, in the time of the planes above. There is no such bound where tiles are predicted or blocks transformed:
    /// what these lack adds up; nor where another writer chose a centre around which numbers at both ends of their range
    /// cannot be told apart (`specs/wcodec-tiles.md`). Everything else is exact as ever, and so are tensors that are coded
    /// otherwise.
    ///
    /// ```
    /// # use latens::wcodec::checkpoint::Tensors;
    /// # use latens::wcodec::dtype::Dtype;
    /// use latens::Limits;
    /// use latens::wcodec::{Coder, Config, Reader, Tools, compress_checkpoint, view::Values};
    /// # let mut tensors = Tensors::new();
    /// # let weights: Vec<u8> = (0..4096u32).map(|i| (i * i % 97) as u8).collect();
    /// # tensors.add("w", Dtype::I8, &[64, 64], weights)?;
    /// # let checkpoint = tensors.checkpoint("m.safetensors")?;
    /// let tools = Tools { coder: Coder::Bitplane, ..Tools::default() };
    /// let config = Config::default().tools(Some(tools));
    /// let file = compress_checkpoint(&checkpoint, None, &config, Vec::new())?;
    ///
    /// let reader = Reader::open(file, Limits::default())?;
    /// let (exact, coarse) = (reader.rows(0, 0..64)?, reader.without_planes(3).rows(0, 0..64)?);
    /// let (Values::Signed(exact), Values::Signed(coarse)) = (exact, coarse) else { unreachable!() };
    /// assert!(exact.iter().zip(&coarse).all(|(a, b)| a.abs_diff(*b) < 8));
    /// # Ok::<(), latens::Error>(())
    /// ```
    #[must_use]
    pub fn without_planes(&self, planes: usize) -> Self {
        Self { without_planes: planes, ..self.again() }
    }

    /// Another handle on the same file.
    pub(crate) fn again(&self) -> Self {
        Self {
            open: Arc::clone(&self.open),
            last: Arc::clone(&self.last),
            base: self.base.clone(),
            threads: self.threads,
            without_planes: self.without_planes,
            watch: self.watch.clone(),
        }
    }

    /// Gives the checkpoint against which this file was coded.
    ///
    /// # Errors
    /// Invalid argument where it is another one.
    pub fn with_base(mut self, base: Box<dyn Base>) -> Result<Self> {
        match &self.open.index.base {
            Some(wanted) if wanted.model_hash != base.model_hash() => Err(Error::invalid(format!(
                "this is not the base: the file was made against {}, of another model hash (or of \
                 these tensors in another order)",
                wanted.name
            ))),
            _ => {
                self.base = Some(base.into());
                self.last = Arc::default();
                Ok(self)
            }
        }
    }

    pub(crate) fn base(&self) -> Result<&dyn Base> {
        match (&self.base, &self.open.index.base) {
            (Some(base), Some(_)) => Ok(&**base),
            (None, Some(wanted)) => Err(Error::invalid(format!(
                "the file was made against another checkpoint, {}; give it as the base",
                wanted.name
            ))),
            (_, None) => Err(Error::corrupt(
                self.open.index_offset,
                "a tensor names a base, the file does not",
            )),
        }
    }

    /// SHA-256 over names, types, shapes and bytes of all tensors.
    pub fn model_hash(&self) -> [u8; 32] {
        self.open.index.model_hash
    }

    /// Name and model hash of the checkpoint that it was coded against.
    pub fn base_name(&self) -> Option<(&str, [u8; 32])> {
        self.open.index.base.as_ref().map(|b| (b.name.as_str(), b.model_hash))
    }

    /// What most weights are.
    pub fn base_quantisation(&self) -> BaseQuantisation {
        self.open.header.base_quantisation
    }

    /// Numbers of entries that are tensors, with what the index says of them. Each is read from the
    /// index when it is asked for.
    pub fn tensors(&self) -> impl Iterator<Item = (usize, TensorEntry<'_>)> {
        self.open.index.entries().filter_map(|entry| Some((entry.number, Self::describe(entry)?)))
    }

    /// What the index says of entry `number`; `None` where that is no tensor.
    pub fn entry(&self, number: usize) -> Option<TensorEntry<'_>> {
        self.open.index.entry(number).and_then(Self::describe)
    }

    fn describe(entry: OpenEntry<'_>) -> Option<TensorEntry<'_>> {
        let record = entry.record;
        let (stored, copy_of) = record.stored();
        let (dtype, shape, length) = (record.dtype()?, record.shape(), record.length);
        Some(TensorEntry { name: entry.name, dtype, shape, length, stored, copy_of })
    }

    /// The number of the tensor of that name. However many there are, it takes the reading of a few
    /// entries.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.open.index.find(name).map(|entry| entry.number)
    }

    /// The tables of the file.
    pub(crate) fn bank(&self) -> Result<&[Table]> {
        if let Some(bank) = self.open.bank.get() {
            return Ok(bank);
        }
        let (record, start) = (self.open.index.bank, self.open.index.bank_at);
        let tables = read_bank(&self.bank_bytes()?, record.tables, record.crc)
            .map_err(|e| e.offset_by(start).within("the tables"))?;
        Ok(self.open.bank.get_or_init(|| tables))
    }

    /// The bytes of the tables, as they are in the file.
    pub(crate) fn bank_bytes(&self) -> Result<Vec<u8>> {
        let (bytes, start) = (self.open.index.bank.bytes as u64, self.open.index.bank_at);
        self.open.limits.check_alloc(bytes, "the tables")?;
        read(&self.open.source, start, bytes)
    }

    /// The bytes of entry `number` as they were in the source.
    ///
    /// # Errors
    /// Corrupt or truncated, with tensor, group and byte; I/O; invalid argument where there is no
    /// such entry or a limit is passed.
    pub fn tensor(&self, number: usize) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.fill(number, &mut out)?;
        Ok(out)
    }

    /// The bytes of an entry that tells how another one is packed: they are no output.
    pub(crate) fn telling(&self, number: usize) -> Result<Vec<u8>> {
        self.aside(number, "what tells how it is packed")
    }

    /// The bytes of an entry that are needed for something else; `what` they are.
    pub(crate) fn aside(&self, number: usize, what: &str) -> Result<Vec<u8>> {
        let open = OpenTensor::open(self, number)?;
        let mut out = Vec::new();
        let limits = self.open.limits;
        limits
            .check_aside(open.entry.length as u64, what)
            .and_then(|()| open.checked_bytes(&mut out))
            .map_err(|e| e.within(self.place(number)))?;
        Ok(out)
    }

    /// [`Reader::tensor`] in place of what `out` holds.
    pub(crate) fn fill(&self, number: usize, out: &mut Vec<u8>) -> Result<()> {
        let open = OpenTensor::open(self, number)?;
        open.bytes(out).map_err(|e| e.within(self.place(number)))
    }

    /// As [`Reader::tensor`], into a buffer of the tensor's length: groups are decoded to where
    /// they belong.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`]; invalid argument where the buffer is of another length. Only the
    /// first [`Error::values_before`] bytes of the buffer have then changed, and none where that is `None`. The
    /// first [`Error::values_right`] of them are those of the tensor. Groups are decoded some at once, by each
    /// thread its own: what lies between may be anything.
    pub fn tensor_into(&self, number: usize, out: &mut [u8]) -> Result<()> {
        let open = OpenTensor::open(self, number)?;
        open.bytes_into(out).map_err(|e| e.within(self.place(number)))
    }

    /// How errors name an entry.
    pub(crate) fn place(&self, number: usize) -> String {
        match self.open.index.entry(number) {
            Some(OpenEntry { name, record, .. }) if record.dtype().is_some() => {
                format!("tensor {name:?}")
            }
            _ => format!("entry {number}"),
        }
    }
}
