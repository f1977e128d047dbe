//! Writing a file, entry by entry.

use crate::bits::checksum::{Crc32, crc32};
use crate::error::{Error, Result};
use crate::watch::Watch;
use crate::wcodec::config::Config;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::family::Family;
use crate::wcodec::encode::tensor::{self, Tensor};
use crate::wcodec::hash::ModelHash;
use crate::wcodec::layout::entry::{Entry, MAX_DIMENSIONS, Storage};
use crate::wcodec::layout::file::{SegmentRecord, SourceFileRecord, is_bare_name};
use crate::wcodec::layout::header::{
    ALIGN, BaseQuantisation, FOOTER_BYTES, Footer, HEADER_BYTES, Header, Known,
};
use crate::wcodec::layout::index::{BankRecord, Base, Index};
use crate::wcodec::layout::source::MAX_NAME;
use crate::wcodec::output::{Groups, Output};
use crate::wcodec::view::View;
use std::collections::HashSet;
use std::io::{Seek, SeekFrom, Write};

/// Bytes that are hashed at a time.
const HASHED: usize = 1 << 18;

/// Writes a `.wcodec` file from its beginning to its end, groups as they are encoded.
pub(crate) struct Writer<W: Write> {
    out: Output<W>,
    config: Config,
    header: Header,
    bank: Bank,
    index: Index,
    names: HashSet<String>,
    hash: ModelHash,
    tensors: u32,
}

impl<W: Write> Writer<W> {
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
            names: HashSet::new(),
            hash: ModelHash::new(),
            tensors: 0,
        };
        let bytes = writer.header.bytes();
        writer.out.put(&bytes)?;
        Ok(writer)
    }

    /// Names the base that tensors are coded against.
    pub(crate) fn base(&mut self, model_hash: [u8; 32], name: String) {
        self.index.base = Some(Base { model_hash, name });
    }

    /// Takes in name, type, shape and bytes of the next tensor, which [`Writer::tensor`] or
    /// [`Writer::copy`] writes; the CRC-32 of its bytes.
    pub(crate) fn begin(&mut self, name: &str, tensor: &Tensor<'_>) -> Result<u32> {
        if name.len() as u64 > MAX_NAME || !self.names.insert(name.to_owned()) {
            return Err(Error::invalid(format!(
                "the name {name:?} is that of another tensor, or longer than {MAX_NAME} bytes"
            )));
        }
        if tensor.shape.len() as u64 > MAX_DIMENSIONS {
            return Err(Error::invalid(format!("{name:?} has {} dimensions", tensor.shape.len())));
        }
        let mut crc = Crc32::default();
        self.hash.begin(name, tensor.dtype.name(), tensor.shape, tensor.bytes.len());
        tensor.bytes.each(HASHED, 1, |_, bytes| {
            self.hash.bytes(bytes);
            crc.update(bytes);
            Ok(())
        })?;
        self.tensors += 1;
        Ok(crc.value())
    }

    /// Writes a tensor under the best of `views`, group by group.
    pub(crate) fn tensor(
        &mut self,
        name: &str,
        tensor: Tensor<'_>,
        views: &[View],
        family: &Family<'_>,
    ) -> Result<()> {
        let mut groups = Groups::new(&mut self.out);
        let mut telling = Telling::new(&self.config.watch, tensor.bytes.len());
        let put = &mut |group: &[u8], of: usize| telling.put(&mut groups, group, of);
        let descriptor = tensor::tensor(tensor, views, family, &self.config, &mut self.bank, put)?;
        let storage = groups.finish(&descriptor)?;
        telling.end()?;
        self.push(name, &tensor, storage);
        Ok(())
    }

    /// A tensor whose bytes are those of an earlier entry.
    pub(crate) fn copy(&mut self, name: &str, tensor: Tensor<'_>, of: usize) -> Result<()> {
        self.push(name, &tensor, Storage::Copy(of));
        self.config.watch.done(tensor.bytes.len() as u64)
    }

    fn push(&mut self, name: &str, tensor: &Tensor<'_>, storage: Storage) {
        self.index.entries.push(Entry {
            name: name.to_owned(),
            dtype: Some(tensor.dtype.name().to_owned()),
            shape: tensor.shape.to_vec(),
            length: tensor.bytes.len(),
            storage,
        });
    }

    /// Writes bytes of a source file that belong to no tensor; the number of their entry.
    pub(crate) fn blob(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut groups = Groups::new(&mut self.out);
        let mut telling = Telling::new(&self.config.watch, bytes.len());
        let put = &mut |group: &[u8], of: usize| telling.put(&mut groups, group, of);
        let descriptor = tensor::blob(bytes, &self.config, &mut self.bank, put)?;
        let storage = groups.finish(&descriptor)?;
        telling.end()?;
        self.index.entries.push(Entry {
            name: String::new(),
            dtype: None,
            shape: Vec::new(),
            length: bytes.len(),
            storage,
        });
        Ok(self.index.entries.len() - 1)
    }

    /// Names a source file and says what it is made of.
    pub(crate) fn file(&mut self, name: &str, segments: Vec<SegmentRecord>) -> Result<()> {
        if !is_bare_name(name) || name.len() as u64 > MAX_NAME {
            return Err(Error::invalid(format!("{name:?} is no bare file name")));
        }
        let length = segments.iter().map(|segment| match *segment {
            SegmentRecord::Entry(k) => self.index.entries.get(k).map_or(0, |e| e.length as u64),
            SegmentRecord::Zeros(n) => n,
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

impl<'w> Telling<'w> {
    fn new(watch: &'w Watch, bytes: usize) -> Self {
        Self { watch, left: bytes as u64 }
    }

    /// Writes a group that stands for so many bytes.
    fn put<W: Write>(&mut self, to: &mut Groups<'_, W>, group: &[u8], of: usize) -> Result<()> {
        to.put(group)?;
        let now = self.left.min(of as u64);
        self.left -= now;
        self.watch.done(now)
    }

    /// Padding, and what belongs to no group.
    fn end(self) -> Result<()> {
        self.watch.done(self.left)
    }
}

impl<W: Write + Seek> Writer<W> {
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
