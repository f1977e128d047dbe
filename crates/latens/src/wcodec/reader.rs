//! Reading a file by position.

use crate::bits::checksum::crc32;
use crate::bits::reader::BitReader;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::wcodec::base::Base;
use crate::wcodec::checkpoint::{Quantization, ReadAt};
use crate::wcodec::decode::part::Pool;
use crate::wcodec::hash::ModelHash;
use crate::wcodec::kept::Last;
use crate::wcodec::layout::entry::Storage;
use crate::wcodec::layout::fields::MAX_SIZE;
use crate::wcodec::layout::file::SegmentRecord;
use crate::wcodec::layout::header::{
    ALIGN, BaseQuantisation, FOOTER_BYTES, Footer, HEADER_BYTES, Header, align, check_zero,
};
use crate::wcodec::layout::table::Table;
use crate::wcodec::open_index::{OpenEntry, OpenIndex};
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::threads::{self, Spare};
use std::io::{Read, Write};
use std::ops::Range;
use std::sync::OnceLock;

/// Entries of up to so many bytes are decoded side by side: they have too few groups to keep all threads
/// at work.
const SMALL: usize = 2 << 20;
/// Most of them in one go.
const MANY: usize = 4096;
/// A thread takes so many bytes of them at once.
const AT_ONCE: usize = 1 << 18;

/// An open `.wcodec` file. In memory are the bytes of its index and at most as much again to find
/// entries by number and name, what it takes to decode a group or two, and the descriptor, tables and
/// scales of the tensor opened last; every function may be called from several threads.
pub struct Reader<S: ReadAt> {
    pub(crate) source: S,
    pub(crate) limits: Limits,
    pub(crate) threads: usize,
    pub(crate) index: OpenIndex,
    header: Header,
    pub(crate) bank: OnceLock<Vec<Table>>,
    pub(crate) pool: Pool,
    pub(crate) last: Last,
    /// What the metadata of the source files say, once somebody wants to know.
    pub(crate) quantization: OnceLock<Quantization>,
    base: Option<Box<dyn Base>>,
    pub(crate) index_offset: u64,
}

/// What stands at both ends of a file.
pub(crate) struct Ends {
    pub(crate) header: Header,
    pub(crate) index: OpenIndex,
    pub(crate) index_offset: u64,
}

/// What the index says of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl<S: ReadAt> Reader<S> {
    /// Opens a file: reads header, footer and index.
    ///
    /// # Errors
    /// I/O; corrupt or truncated, with the byte, where these are not sound.
    pub fn open(source: S, limits: Limits) -> Result<Self> {
        let found = read_ends(&source, limits)?;
        Ok(Self::of(source, limits, found))
    }

    /// A reader of what was found at both ends of a file.
    pub(crate) fn of(source: S, limits: Limits, found: Ends) -> Self {
        let Ends { header, index, index_offset } = found;
        Self {
            source,
            limits,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            index,
            header,
            bank: OnceLock::new(),
            pool: Pool::default(),
            last: Last::default(),
            quantization: OnceLock::new(),
            base: None,
            index_offset,
        }
    }

    /// Decodes on so many threads; the default is as many as there are cores.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        if threads > 0 {
            self.threads = threads;
        }
        self
    }

    /// Gives the checkpoint against which this file was coded.
    ///
    /// # Errors
    /// Invalid argument where it is another one.
    pub fn with_base(mut self, base: Box<dyn Base>) -> Result<Self> {
        match &self.index.base {
            Some(wanted) if wanted.model_hash != base.model_hash() => Err(Error::invalid(format!(
                "this is not the base: the file was made against {}, of another model hash",
                wanted.name
            ))),
            _ => {
                self.base = Some(base);
                self.last = Last::default();
                Ok(self)
            }
        }
    }

    pub(crate) fn base(&self) -> Result<&dyn Base> {
        match (&self.base, &self.index.base) {
            (Some(base), _) => Ok(&**base),
            (None, Some(wanted)) => Err(Error::invalid(format!(
                "the file was made against another checkpoint, {}; give it as the base",
                wanted.name
            ))),
            (None, None) => {
                Err(Error::corrupt(self.index_offset, "a tensor names a base, the file does not"))
            }
        }
    }

    /// SHA-256 over names, types, shapes and bytes of all tensors.
    pub fn model_hash(&self) -> [u8; 32] {
        self.index.model_hash
    }

    /// Name and model hash of the checkpoint that it was coded against.
    pub fn base_name(&self) -> Option<(&str, [u8; 32])> {
        self.index.base.as_ref().map(|b| (b.name.as_str(), b.model_hash))
    }

    /// What most weights are.
    pub fn base_quantisation(&self) -> BaseQuantisation {
        self.header.base_quantisation
    }

    /// Numbers of entries that are tensors, with what the index says of them. Each is read from the
    /// index when it is asked for.
    pub fn tensors(&self) -> impl Iterator<Item = (usize, TensorEntry<'_>)> {
        self.index.entries().filter_map(|entry| Some((entry.number, Self::describe(entry)?)))
    }

    /// What the index says of entry `number`; `None` where that is no tensor.
    pub fn entry(&self, number: usize) -> Option<TensorEntry<'_>> {
        self.index.entry(number).and_then(Self::describe)
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
        self.index.find(name).map(|entry| entry.number)
    }

    /// The tables of the file.
    pub(crate) fn bank(&self) -> Result<&[Table]> {
        if let Some(bank) = self.bank.get() {
            return Ok(bank);
        }
        let record = self.index.bank;
        let start = self.index.bank_at;
        self.limits.check_alloc(record.bytes as u64, "the tables")?;
        let bytes = read(&self.source, start, record.bytes as u64)?;
        let tables = read_bank(&bytes, record.tables, record.crc)
            .map_err(|e| e.offset_by(start).within("the tables"))?;
        Ok(self.bank.get_or_init(|| tables))
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

    /// [`Reader::tensor`] in place of what `out` holds.
    fn fill(&self, number: usize, out: &mut Vec<u8>) -> Result<()> {
        let open = OpenTensor::open(self, number)?;
        open.bytes(out).map_err(|e| e.within(self.place(number)))
    }

    /// As [`Reader::tensor`], into a buffer of the tensor's length: groups are decoded to where
    /// they belong.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`]; invalid argument where the buffer is of another length. Only the
    /// first [`Error::values_before`] bytes of the buffer have then changed. Some groups are decoded at
    /// once: those of the last megabytes among them may be wrong.
    pub fn tensor_into(&self, number: usize, out: &mut [u8]) -> Result<()> {
        let open = OpenTensor::open(self, number)?;
        open.bytes_into(out).map_err(|e| e.within(self.place(number)))
    }

    /// How errors name an entry.
    pub(crate) fn place(&self, number: usize) -> String {
        match self.index.entry(number) {
            Some(OpenEntry { name, record, .. }) if record.dtype().is_some() => {
                format!("tensor {name:?}")
            }
            _ => format!("entry {number}"),
        }
    }

    /// Source files, by number: names and lengths.
    pub fn files(&self) -> impl Iterator<Item = (&str, u64)> {
        self.index.files().map(|file| (file.name, file.length))
    }

    /// Numbers of the tensors of source file `number`, in its order.
    pub fn tensors_of_file(&self, number: usize) -> Vec<usize> {
        let Some(file) = self.index.file(number) else { return Vec::new() };
        let entries = file.segments().filter_map(|segment| match segment {
            SegmentRecord::Entry(entry) => Some(entry),
            SegmentRecord::Zeros(_) => None,
        });
        entries.filter(|&entry| self.entry(entry).is_some()).collect()
    }

    /// Writes source file `number` as it was. In memory are some 8 MiB of a tensor, with its parts and
    /// what explains them, or of small ones.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`]; I/O of `out`.
    pub fn write_file(&self, number: usize, out: &mut dyn Write) -> Result<()> {
        self.write_file_watched(number, out, &mut |_| ())
    }

    /// As [`Reader::write_file`]; `watch` is told the number of each entry before its bytes are
    /// written.
    ///
    /// # Errors
    /// Those of [`Reader::write_file`].
    pub fn write_file_watched(
        &self,
        number: usize,
        out: &mut dyn Write,
        watch: &mut dyn FnMut(usize),
    ) -> Result<()> {
        let file = self.index.file(number);
        let file = file.ok_or_else(|| Error::invalid(format!("there is no file {number}")))?;
        self.limits.check_output(file.length)?;
        let mut few = Vec::new();
        for segment in file.segments() {
            let small = match segment {
                SegmentRecord::Entry(entry) if self.threads > 1 => {
                    self.byte_length(entry)? <= SMALL
                }
                _ => false,
            };
            if !small || few.len() == MANY {
                self.write_side_by_side(&mut few, out, watch)?;
            }
            match segment {
                SegmentRecord::Entry(entry) if small => few.push(entry),
                SegmentRecord::Entry(entry) => {
                    watch(entry);
                    self.write_entry(entry, out)?;
                }
                SegmentRecord::Zeros(count) => {
                    std::io::copy(&mut std::io::repeat(0).take(count), out)?;
                }
            }
        }
        self.write_side_by_side(&mut few, out, watch)
    }

    /// Writes the bytes of entries, decoded on a thread each, and empties the list of them.
    fn write_side_by_side(
        &self,
        entries: &mut Vec<usize>,
        out: &mut dyn Write,
        watch: &mut dyn FnMut(usize),
    ) -> Result<()> {
        self.side_by_side(entries, |entry, bytes| {
            watch(entry);
            out.write_all(&bytes)?;
            Ok(Some(bytes))
        })?;
        entries.clear();
        Ok(())
    }

    /// Hands the bytes of tensors `numbers` to `take`, in this order: small ones are decoded side by side,
    /// a thread each, large ones by all threads. A buffer that `take` hands back is used again.
    ///
    /// # Errors
    /// Those of [`Reader::tensor`], and of `take`.
    pub fn for_each(
        &self,
        numbers: &[usize],
        mut take: impl FnMut(usize, Vec<u8>) -> Result<Option<Vec<u8>>>,
    ) -> Result<()> {
        let mut rest = numbers;
        while let Some(&number) = rest.first() {
            let is_small = |&number: &usize| self.byte_length(number).is_ok_and(|n| n <= SMALL);
            let few = rest.iter().take_while(|number| is_small(number)).count();
            if few == 0 {
                take(number, self.tensor(number)?)?;
            }
            self.side_by_side(&rest[..few], &mut take)?;
            rest = &rest[few.max(1)..];
        }
        Ok(())
    }

    /// Hands the bytes of entries to `take` in order, while the next ones are decoded, on a thread each.
    fn side_by_side(
        &self,
        entries: &[usize],
        mut take: impl FnMut(usize, Vec<u8>) -> Result<Option<Vec<u8>>>,
    ) -> Result<()> {
        let alone = entries.len() < 2;
        let spare = Spare::default();
        let mut jobs: Vec<(Range<usize>, usize)> = Vec::new();
        for (i, &entry) in entries.iter().enumerate() {
            let length = self.byte_length(entry)?;
            match jobs.last_mut() {
                Some((job, bytes)) if *bytes < AT_ONCE => {
                    job.end += 1;
                    *bytes += length;
                }
                _ => jobs.push((i..i + 1, length)),
            }
        }
        let one = |entry: usize| {
            let mut bytes = spare.take();
            let open = OpenTensor::open(self, entry)?;
            let open = if alone { open } else { open.threads(1) };
            open.bytes(&mut bytes).map_err(|e| e.within(self.place(entry)))?;
            Ok((entry, bytes))
        };
        let decode = |(): &mut (), i: usize| {
            let job = jobs.get(i).map_or(0..0, |(job, _)| job.clone());
            entries[job].iter().map(|&entry| one(entry)).collect::<Result<Vec<_>>>()
        };
        threads::in_order(
            jobs.len(),
            self.threads,
            || (),
            decode,
            |done| {
                for (entry, bytes) in done {
                    if let Some(bytes) = take(entry, bytes)? {
                        spare.give(bytes);
                    }
                }
                Ok(())
            },
        )
    }

    /// Decodes everything and checks every checksum, all padding and the model hash.
    ///
    /// # Errors
    /// The first thing that is wrong; [`Reader::tensor`] tells of each tensor on its own.
    pub fn verify(&self) -> Result<()> {
        self.verify_watched(&mut |_| ())
    }

    /// As [`Reader::verify`]; `watch` is told the number of each tensor before it is decoded.
    ///
    /// # Errors
    /// Those of [`Reader::verify`].
    pub fn verify_watched(&self, watch: &mut dyn FnMut(usize)) -> Result<()> {
        self.bank()?;
        let mut end = HEADER_BYTES as u64;
        for entry in self.index.entries() {
            if let Storage::Stored { .. } = entry.record.storage {
                self.check_padding(end, entry.start)?;
                end = entry.start + entry.record.stored().0 as u64;
            }
        }
        let bank = self.index.bank_at;
        self.check_padding(end, bank)?;
        self.check_padding(bank + self.index.bank.bytes as u64, self.index_offset)?;
        let mut bytes = Vec::new();
        for entry in self.index.entries().filter(|entry| entry.record.dtype().is_none()) {
            self.fill(entry.number, &mut bytes)?;
        }
        if !self.has_its_hash(watch)? {
            return Err(Error::corrupt(
                self.index_offset,
                "all tensors decode, but not to what the model hash states",
            ));
        }
        Ok(())
    }

    /// Decodes all tensors and compares the model hash.
    pub(crate) fn has_its_hash(&self, watch: &mut dyn FnMut(usize)) -> Result<bool> {
        let mut hash = ModelHash::new();
        let mut bytes = Vec::new();
        for entry in self.index.entries() {
            if let Some(dtype) = entry.record.dtype() {
                watch(entry.number);
                self.fill(entry.number, &mut bytes)?;
                hash.tensor(&entry.name, dtype, &entry.record.shape(), &bytes);
            }
        }
        Ok(hash.finish() == self.index.model_hash)
    }

    fn check_padding(&self, from: u64, to: u64) -> Result<()> {
        if from >= to {
            return Ok(());
        }
        let bytes = read(&self.source, from, to - from)?;
        check_zero(&bytes, from, "what comes before")
    }
}

/// Reads the header of a file of `length` bytes.
pub(crate) fn read_head<S: ReadAt>(source: &S, length: u64) -> Result<[u8; HEADER_BYTES]> {
    let mut head = [0; HEADER_BYTES];
    if length < (HEADER_BYTES + FOOTER_BYTES) as u64 {
        return Err(Error::truncated(length, "the file is shorter than header and footer"));
    }
    source.read_exact_at(&mut head, 0)?;
    Ok(head)
}

/// The footer and end of a file that bytes were appended to, if they are no more than a megabyte.
pub(crate) fn followed<S: ReadAt>(source: &S, length: u64) -> Option<(Footer, u64)> {
    let searched = length.min(1 << 20);
    let tail = read(source, length - searched, searched).ok()?;
    Footer::followed(&tail, length)
}

/// Reads header, footer and index, which must be sound.
pub(crate) fn read_ends<S: ReadAt>(source: &S, limits: Limits) -> Result<Ends> {
    let length = source.size()?;
    let head = read_head(source, length)?;
    let header = Header::read(&head)?;
    let mut foot = [0; FOOTER_BYTES];
    source.read_exact_at(&mut foot, length - FOOTER_BYTES as u64)?;
    let footer = Footer::read(&foot, length).map_err(|e| match followed(source, length) {
        Some((_, end)) => {
            Error::corrupt(end, format!("{} bytes follow the end of the file", length - end))
        }
        None => e,
    })?;
    let index_offset = footer.index_offset;
    let bytes = length - FOOTER_BYTES as u64 - index_offset;
    limits.check_alloc(bytes, "the index")?;
    let bytes = read(source, index_offset, bytes)?;
    if crc32(&bytes) != footer.index_crc {
        return Err(Error::corrupt(
            index_offset,
            "the index does not have the checksum that the footer states",
        ));
    }
    let unsound = |e: Error| e.offset_by(index_offset).within("the index");
    let index = OpenIndex::read(bytes).map_err(unsound)?;
    check(&head, &header, index_offset, &index)?;
    Ok(Ends { header, index, index_offset })
}

/// `len` bytes from `offset` on.
pub(crate) fn read<S: ReadAt>(source: &S, offset: u64, len: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_into(source, offset, len, &mut bytes)?;
    Ok(bytes)
}

/// As [`read`], in place of what `bytes` holds.
pub(crate) fn read_into<S: ReadAt>(
    source: &S,
    offset: u64,
    len: u64,
    bytes: &mut Vec<u8>,
) -> Result<()> {
    let end = offset.checked_add(len).filter(|end| source.size().is_ok_and(|size| *end <= size));
    let len = usize::try_from(len).ok().filter(|len| *len <= MAX_SIZE && end.is_some());
    let len = len.ok_or_else(|| Error::truncated(offset, "the file ends before what it names"))?;
    bytes.resize(len, 0);
    source.read_exact_at(bytes, offset).map_err(|e| Error::from(e).at_byte(offset))
}

/// Compares the header with the index, and where that begins with where its entries end.
fn check(head: &[u8], header: &Header, index_offset: u64, index: &OpenIndex) -> Result<()> {
    if crc32(head) != index.header_crc {
        return Err(Error::corrupt(
            0,
            "the header does not have the checksum that the index states",
        ));
    }
    ends_where(index, index_offset)?;
    if let Some(known) = &header.known {
        let same = known.model_hash == index.model_hash
            && known.index_offset == index_offset
            && usize::try_from(known.tensors) == Ok(index.tensors());
        if !same {
            return Err(Error::corrupt(12, "header and index differ"));
        }
    }
    Ok(())
}

/// Entries and tables must end where the index begins.
pub(crate) fn ends_where(index: &OpenIndex, index_offset: u64) -> Result<()> {
    let end = index.bank_at.saturating_add(index.bank.bytes as u64);
    if align(end, ALIGN) != index_offset {
        return Err(Error::corrupt(
            index_offset,
            format!("entries and tables end at byte {end}, the index begins elsewhere"),
        ));
    }
    Ok(())
}

/// The tables in `bytes`.
pub(crate) fn read_bank(bytes: &[u8], count: usize, crc: u32) -> Result<Vec<Table>> {
    if crc32(bytes) != crc {
        return Err(Error::corrupt(0, "they do not have the checksum that the index states"));
    }
    let mut r = BitReader::new(bytes, 0);
    let mut tables: Vec<Table> = Vec::new();
    for _ in 0..count {
        let table = Table::read(&mut r, &tables)?;
        tables.push(table);
    }
    match r.bits_left() {
        0 => Ok(tables),
        _ => Err(Error::corrupt(r.byte(), "bytes behind the last table")),
    }
}
