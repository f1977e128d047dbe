//! A checkpoint as its tensors come.

use crate::error::{Error, Result};
use crate::wcodec::base::Base;
use crate::wcodec::checkpoint::{
    LONGEST_HEADER, Member, Quantization, Tensors, all_matched, header_of,
};
use crate::wcodec::compress::{self, BaseFile, Seen};
use crate::wcodec::config::Config;
use crate::wcodec::file_writer::FileWriter;
use crate::wcodec::layout::file::{SegmentRecord, may_name_a_file};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{Seek, Write};

/// Writes a `.wcodec` of tensors that are not all there at once: layer by layer, as they are made.
///
/// What belongs to a tensor (scales, zero points, a group index) is to come with it, in the same [`Tensors`]: it says
/// how the tensor is packed, and explains its weights. Held are what
/// [`compress_checkpoint`](crate::wcodec::compress_checkpoint) holds of these, and names, types, shapes and hashes of all
/// before, of which a tensor may be a copy. The file gives back the safetensors file that all of them would make together.
///
/// Tensors stand in the order in which they came, and so they have another [model hash](crate::wcodec::Reader::model_hash) than in
/// a file that is made of that safetensors file: against which of the two another one is coded, that one it needs as its base.
///
/// ```
/// use latens::Limits;
/// use latens::wcodec::{Config, Reader, Writer, checkpoint::Tensors, dtype::Dtype};
///
/// let mut writer = Writer::new(Vec::new(), "model.safetensors", &Config::default())?;
/// writer.metadata("format", "pt");
/// for layer in 0..3u8 {
///     let mut tensors = Tensors::new();
///     let weights: Vec<u8> = (0..64u8).map(|i| i % 5 + layer).collect();
///     tensors.add(format!("{layer}.weight"), Dtype::I8, &[8, 8], weights)?;
///     tensors.add(format!("{layer}.weight_scale"), Dtype::F32, &[8, 1], vec![layer; 32])?;
///     writer.write(tensors)?;
/// }
/// let file = writer.finish()?;
///
/// let reader = Reader::open(file, Limits::default())?;
/// assert_eq!(reader.tensors().count(), 6);
/// reader.write_file(0, &mut std::io::sink())?; // model.safetensors
/// # Ok::<(), latens::Error>(())
/// ```
pub struct Writer<W: Write> {
    /// None where writing failed.
    out: Option<Out<W>>,
    name: String,
    config: Config,
    /// What tensors are coded against, and its name.
    base: Option<(Box<dyn Base>, String)>,
    metadata: BTreeMap<String, String>,
    /// What was told of the quantisation, and whether some of it stands in no metadata.
    told: Quantization,
    beside: bool,
    /// Bytes of the safetensors file's header without metadata, or somewhat more.
    header: usize,
    /// Those that are written, by entry.
    members: Vec<Member>,
    seen: Seen,
    /// Which of the packings that were asked for were some tensor's.
    matched: Vec<bool>,
    /// Bytes of quantised weights: of more than four bits, of four and fewer.
    weights: [u64; 2],
}

/// What the tensors of one call are called, by nobody.
const OF_SOME: &str = "tensors.safetensors";

/// Digits that say where a tensor begins and ends, at most.
const MOST_DIGITS: usize = 40;

/// Where the file goes.
enum Out<W: Write> {
    /// Nothing is written yet.
    New(W),
    Begun(Box<FileWriter<W>>),
}

impl<W: Write> Writer<W> {
    /// Of a file to `out` that gives back a safetensors file of this name.
    ///
    /// # Errors
    /// Invalid argument where `config` asks for what there is not, or the name is no bare one.
    pub fn new(out: W, name: &str, config: &Config) -> Result<Self> {
        config.validate()?;
        may_name_a_file(name)?;
        Ok(Self {
            out: Some(Out::New(out)),
            name: name.to_owned(),
            config: config.clone(),
            base: None,
            metadata: BTreeMap::new(),
            told: Quantization::default(),
            beside: false,
            header: 0,
            members: Vec::new(),
            seen: Seen::by_hash(),
            matched: Vec::new(),
            weights: [0; 2],
        })
    }

    /// Codes tensors against those of another checkpoint of this name, a hint for people.
    ///
    /// # Errors
    /// Invalid argument where something is written already, or there is a base.
    pub fn against(mut self, base: Box<dyn Base>, name: &str) -> Result<Self> {
        match (&self.out, &self.base) {
            (Some(Out::New(_)), None) => self.base = Some((base, name.to_owned())),
            _ => return Err(Error::invalid("a file has one base, which comes before its tensors")),
        }
        Ok(self)
    }

    /// An entry of the safetensors file's metadata, in place of an earlier one of that name.
    pub fn metadata(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.metadata.insert(name.into(), value.into());
    }

    /// Writes tensors that belong together, and adds their metadata to those of the file. What they, or their metadata, tell
    /// of the quantisation holds for those that follow as well.
    ///
    /// # Errors
    /// I/O; invalid argument where a tensor has the name of an earlier one, where they are told to be quantised otherwise
    /// than earlier ones, or are what the formats cannot hold. After an error the file is not whole, and no more can be written.
    pub fn write(&mut self, mut tensors: Tensors) -> Result<()> {
        let out = self.out.take().ok_or_else(failed)?;
        self.metadata.append(&mut tensors.metadata);
        tensors.metadata.clone_from(&self.metadata);
        if !tensors.told.agrees(&self.told) {
            return Err(otherwise(&tensors.told, &self.told));
        }
        tensors.told.or(self.told.clone());
        let checkpoint = tensors.checkpoint(OF_SOME)?;
        if !checkpoint.quantization.agrees(&self.told) {
            return Err(otherwise(&checkpoint.quantization, &self.told));
        }
        compress::check(&checkpoint)?;
        let packed = checkpoint.packed_as(&self.config.packings, &mut self.matched)?;
        let checkpoint = packed.unwrap_or(checkpoint);
        let members: Vec<Member> = checkpoint.tensors.iter().map(Member::of).collect();
        // Where they begin in the file takes more digits.
        self.header += header_of(&BTreeMap::new(), members.iter())?.len();
        self.header += MOST_DIGITS * members.len();
        let of_metadata = header_of(&self.metadata, [].into_iter())?.len();
        if (of_metadata + self.header) as u64 > LONGEST_HEADER {
            return Err(Error::invalid("more names than a header of safetensors may have"));
        }
        let weights = compress::quantised_bytes(&checkpoint);
        self.weights = std::array::from_fn(|i| self.weights[i].saturating_add(weights[i]));
        let mut file = self.begun(out)?;
        self.beside |= checkpoint.told_beside().is_some();
        self.told.or(checkpoint.quantization.clone());
        self.record(&mut file, self.beside);
        let base = self.base.as_ref().map(|(base, name)| BaseFile { base: &**base, name });
        compress::tensors(&checkpoint, base, &self.config, &mut self.seen, &mut file)?;
        self.members.extend(members);
        self.out = Some(Out::Begun(file));
        Ok(())
    }

    /// The file, of which the header is written if nothing is yet.
    fn begun(&self, out: Out<W>) -> Result<Box<FileWriter<W>>> {
        let mut file = match out {
            Out::Begun(file) => file,
            Out::New(out) => {
                let most = compress::most_bytes(self.weights);
                Box::new(FileWriter::new(out, &self.config, most)?)
            }
        };
        if let Some((base, name)) = &self.base {
            file.base(base.model_hash(), name.clone());
        }
        Ok(file)
    }

    /// Says what is known of the quantisation, if readers are `to_know`.
    fn record(&self, file: &mut FileWriter<W>, to_know: bool) {
        if to_know && self.told != Quantization::default() {
            file.quantization(self.told.to_record());
        }
    }

    /// The safetensors file that all tensors make.
    fn end(&mut self) -> Result<Box<FileWriter<W>>> {
        let out = self.out.take().ok_or_else(failed)?;
        all_matched(&self.config.packings, &self.matched)?;
        let mut file = self.begun(out)?;
        // What was said behind the last tensors.
        let mut last = Tensors::new();
        last.metadata.clone_from(&self.metadata);
        let told = last.checkpoint(OF_SOME)?.quantization;
        if !told.agrees(&self.told) {
            return Err(otherwise(&told, &self.told));
        }
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by(|&a, &b| Member::order(&self.members[a], &self.members[b]));
        let header = header_of(&self.metadata, order.iter().map(|&i| &self.members[i]))?;
        // Readers do not put a header together that is more than a blob.
        self.record(&mut file, header.len() > compress::BLOB);
        let mut segments = Vec::new();
        for bytes in header.chunks(compress::BLOB) {
            file.beside_tensors(bytes, false, &mut segments)?;
        }
        segments.extend(order.into_iter().map(SegmentRecord::Entry));
        file.file(&self.name, segments)?;
        Ok(file)
    }

    /// Writes the end of the file. Its header leaves out what only the end knows, and says what most weights are as far as the
    /// first batch told.
    ///
    /// # Errors
    /// I/O; where writing failed before; invalid argument where a packing was asked for and no tensor had such a name.
    pub fn finish(mut self) -> Result<W> {
        self.end()?.finish()
    }
}

impl<W: Write + Seek> Writer<W> {
    /// Like [`Writer::finish`], where `out` began at the start of a file: its header is complete.
    ///
    /// # Errors
    /// Those of [`Writer::finish`].
    pub fn finish_to_file(mut self) -> Result<W> {
        let mut file = self.end()?;
        file.base_quantisation(compress::most_bytes(self.weights));
        file.finish_header(0)
    }
}

impl<W: Write> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, members, .. } = self;
        f.debug_struct("Writer")
            .field("name", name)
            .field("tensors", &members.len())
            .finish_non_exhaustive()
    }
}

fn otherwise(told: &Quantization, before: &Quantization) -> Error {
    Error::invalid(format!("{told:?} after {before:?} in one file"))
}

fn failed() -> Error {
    Error::invalid("writing this file failed before; begin anew")
}
