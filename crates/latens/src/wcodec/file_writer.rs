//! Writing a file, entry by entry.

mod beside;

use crate::bits::checksum::crc32;
use crate::error::{Error, Result};
use crate::watch::Watch;
use crate::wcodec::config::Config;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::batch::{self, Beside, Made};
use crate::wcodec::encode::tensor::{Input, Tensor};
use crate::wcodec::hash::ModelHash;
use crate::wcodec::layout::entry::{Entry, Storage};
use crate::wcodec::layout::file::{SegmentRecord, SourceFileRecord, Woven, may_name_a_file};
use crate::wcodec::layout::header::{
    ALIGN, BaseQuantisation, FOOTER_BYTES, Footer, HEADER_BYTES, Header, Known,
};
use crate::wcodec::layout::index::{
    BankRecord, Base, Index, Quantization, tables_length, tables_of,
};
use crate::wcodec::layout::source::MAX_NAME;
use crate::wcodec::output::{Groups, Output};
use std::collections::HashMap;
use std::io::{Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

pub(crate) use beside::WORTH_A_BLOB;

/// What helps to mend tables and index is each no more than one byte in so many of the file; of tables it may be a few.
const SHARE: u64 = 1024;
const FEW: usize = 256;
/// Bytes that are hashed at a time.
const HASHED: usize = 1 << 18;

/// Writes a `.wcodec` file from its beginning to its end, groups as they are encoded.
pub(crate) struct FileWriter<W: Write> {
    out: Output<W>,
    config: Config,
    header: Header,
    bank: Bank,
    index: Index,
    /// What tensors may be coded against.
    base: Option<Base>,
    /// Names of tensors, and the numbers of their entries: these come before all others.
    names: HashMap<String, u32>,
    /// Names of source files, and their numbers.
    file_names: HashMap<String, u32>,
    hash: ModelHash,
    tensors: u32,
}

impl<W: Write> FileWriter<W> {
    /// Writes the header.
    pub(crate) fn new(
        out: W,
        config: &Config,
        base_quantisation: BaseQuantisation,
    ) -> Result<Self> {
        config.validate()?;
        let header = Header { base_quantisation, known: None };
        let mut writer = Self {
            out: Output { out, at: 0 },
            config: config.clone(),
            header,
            bank: Bank::default(),
            index: Index::default(),
            base: None,
            names: HashMap::new(),
            file_names: HashMap::new(),
            hash: ModelHash::new(),
            tensors: 0,
        };
        let bytes = writer.header.bytes();
        writer.out.put(&bytes)?;
        Ok(writer)
    }

    /// Says what most weights are, where [`FileWriter::finish_header`] writes the header again.
    pub(crate) fn base_quantisation(&mut self, most: BaseQuantisation) {
        self.header.base_quantisation = most;
    }

    /// How many entries there are.
    pub(crate) fn entries(&self) -> usize {
        self.index.entries.len()
    }

    /// Names the base that tensors may be coded against. The file names it where one is.
    pub(crate) fn base(&mut self, model_hash: [u8; 32], mut name: String) {
        // A hint for people.
        let most = usize::try_from(MAX_NAME).unwrap_or(0).min(name.len());
        name.truncate((0..=most).rev().find(|&at| name.is_char_boundary(at)).unwrap_or(0));
        self.base = Some(Base { model_hash, name });
    }

    /// Says what files beside the checkpoint tell of its quantisation.
    pub(crate) fn quantization(&mut self, told: Quantization) {
        self.index.quantization = Some(told);
    }

    /// Takes in the name of the next tensor, which [`FileWriter::tensors`] writes.
    pub(crate) fn begin(&mut self, name: &str) -> Result<()> {
        let number = self.tensors;
        if name.len() as u64 > MAX_NAME || self.names.insert(name.to_owned(), number).is_some() {
            return Err(Error::invalid(format!(
                "the name {name:?} is that of another tensor, or longer than {MAX_NAME} bytes"
            )));
        }
        self.tensors += 1;
        Ok(())
    }

    /// Writes the next tensors: names, tensors, and the entries that those are copies of which are no
    /// `inputs`.
    pub(crate) fn tensors(
        &mut self,
        tensors: &[(&str, Tensor<'_>, Option<usize>)],
        inputs: &[Input<'_>],
    ) -> Result<()> {
        let hash = Mutex::new(self.hash.clone());
        let hash_all = || {
            let mut hash = hash.lock().unwrap_or_else(PoisonError::into_inner);
            for (name, tensor, _) in tensors {
                hash.begin(name, tensor.type_name, tensor.shape, tensor.bytes.len());
                let hashed = tensor.bytes.each(HASHED, 1, |_, bytes| {
                    hash.bytes(bytes);
                    Ok(())
                });
                hashed.map_err(|e| e.within(format!("tensor {name:?}")))?;
            }
            Ok(())
        };
        let mut stored = self.encode(inputs, &hash_all)?.into_iter();
        self.hash = hash.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (name, tensor, copy) in tensors {
            let storage = match copy {
                Some(of) => {
                    self.config.watch.done(tensor.bytes.len() as u64)?;
                    Some(Storage::Copy(*of))
                }
                None => stored.next(),
            };
            self.index.entries.extend(storage.map(|storage| Entry {
                name: (*name).to_owned(),
                dtype: Some(tensor.type_name.to_owned()),
                shape: tensor.shape.to_vec(),
                length: tensor.bytes.len(),
                storage,
            }));
        }
        Ok(())
    }

    /// Writes what is made of `inputs`, and says where it is.
    fn encode(&mut self, inputs: &[Input<'_>], beside: Beside<'_>) -> Result<Vec<Storage>> {
        let Self { out, config, bank, index, base, .. } = self;
        let (mut groups, mut stored) = (Groups::default(), Vec::new());
        let left = |number: usize| inputs.get(number).map_or(0, |i| i.tensor.bytes.len() as u64);
        let mut telling = Telling { watch: &config.watch, left: left(0) };
        batch::encode(inputs, config, bank, beside, &mut |made| match made {
            Made::Group(group, of) => {
                groups.put(out, group)?;
                telling.group(of)
            }
            Made::Plain(bytes) => {
                stored.push(out.plain(bytes)?);
                telling.end(left(stored.len()))
            }
            Made::Tensor(descriptor, needs_base) => {
                if needs_base {
                    index.base.clone_from(base);
                }
                stored.push(std::mem::take(&mut groups).finish(out, &descriptor)?);
                telling.end(left(stored.len()))
            }
        })?;
        Ok(stored)
    }

    /// Names a source file and says what it is made of.
    pub(crate) fn file(&mut self, name: &str, segments: Vec<SegmentRecord>) -> Result<()> {
        may_name_a_file(name)?;
        let length = segments.iter().map(|segment| match *segment {
            SegmentRecord::Entry(k) => self.index.entries.get(k).map_or(0, |e| e.length as u64),
            SegmentRecord::Zeros(n) | SegmentRecord::Woven(Woven { length: n, .. }) => n,
        });
        let length = length.sum();
        self.index.files.push(SourceFileRecord { name: name.to_owned(), length, segments });
        Ok(())
    }

    /// Writes bank, index and footer; `known` says whether the header will be written again.
    fn end(&mut self, known: bool) -> Result<()> {
        self.out.pad(ALIGN)?;
        let bank = self.bank.bytes();
        self.out.put(&bank)?;
        self.index.bank =
            BankRecord { tables: self.bank.len(), bytes: bank.len(), crc: crc32(&bank) };
        self.out.pad(ALIGN)?;
        let index_offset = self.out.at;
        let share = usize::try_from(index_offset / SHARE).unwrap_or(usize::MAX);
        if tables_length(bank.len()) <= FEW.max(share) {
            self.index.tables = tables_of(&bank);
        }
        self.index.most_of_parity = share;
        self.index.model_hash = self.hash.clone().finish();
        if known {
            let model_hash = self.index.model_hash;
            self.header.known = Some(Known { model_hash, tensors: self.tensors, index_offset });
        }
        self.index.header_crc = crc32(&self.header.bytes());
        let index = self.index.bytes();
        self.out.put(&index)?;
        let file_length = self.out.at + FOOTER_BYTES as u64;
        let footer = Footer { index_offset, file_length, index_crc: crc32(&index) };
        self.out.put(&footer.bytes())
    }

    /// Writes the end of the file. The header does not know where it is; the footer does.
    pub(crate) fn finish(mut self) -> Result<W> {
        self.end(false)?;
        self.out.out.flush()?;
        Ok(self.out.out)
    }
}

/// Tells of an entry's bytes as its groups are written, all of them and no more.
struct Telling<'w> {
    watch: &'w Watch,
    left: u64,
}

impl Telling<'_> {
    /// A group was written that stands for so many bytes.
    fn group(&mut self, of: usize) -> Result<()> {
        let now = self.left.min(of as u64);
        self.left -= now;
        self.watch.done(now)
    }

    /// All groups were: what is left is padding, and what belongs to no group. The next entry has `next` bytes.
    fn end(&mut self, next: u64) -> Result<()> {
        self.watch.done(std::mem::replace(&mut self.left, next))
    }
}

impl<W: Write + Seek> FileWriter<W> {
    /// Writes the end of the file, and the header again, which then knows all. The file must begin
    /// at `start`.
    pub(crate) fn finish_header(mut self, start: u64) -> Result<W> {
        self.end(true)?;
        let header: [u8; HEADER_BYTES] = self.header.bytes();
        self.out.out.seek(SeekFrom::Start(start))?;
        self.out.out.write_all(&header)?;
        self.out.out.seek(SeekFrom::End(0))?;
        self.out.out.flush()?;
        Ok(self.out.out)
    }
}
