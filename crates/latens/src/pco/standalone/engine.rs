//! Reading a standalone file, wherever its bytes come from: chunk after chunk, then what ends it.

mod chunk;
mod end;

use super::info::{ChunkInfo, Ending};
use super::open_chunk::OpenChunk;
use super::source::Supply;
use crate::bits::checksum::Crc32c;
use crate::bits::reader::BitReader;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::number::{AnyNumbers, Latent, Number, NumberType, with_latent};
use crate::pco::decode::workshop::Workshop;
use crate::pco::layout::header::FormatVersion;
use crate::pco::layout::preamble::Preamble;
use crate::pco::layout::trailer::{ChunkEntry, Trailer};

/// The chunk that is being read.
struct Current {
    info: ChunkInfo,
    offset: u64,
    /// Bits of the first byte at hand that are used up.
    bit: usize,
    numbers_crc: Crc32c,
    chunk: Box<dyn OpenChunk>,
}

/// Decodes a standalone file, batch by batch; see [`Decoder`](super::Decoder).
pub(crate) struct Engine<S> {
    source: S,
    limits: Limits,
    preamble: Preamble,
    version: FormatVersion,
    checks: bool,
    current: Option<Current>,
    /// Chunks of the file before the first one that is read.
    before: usize,
    seen: Trailer,
    emitted_bytes: u64,
    workshop: Workshop,
    terminated: bool,
    ending: Option<Ending>,
}

impl<S: Supply> Engine<S> {
    /// Reads the file's header.
    ///
    /// # Errors
    /// When the header is not that of a Pco file, or the reader fails.
    pub(crate) fn new(mut source: S, limits: Limits) -> Result<Self> {
        let (preamble, version) = source.parse(|bytes| {
            let mut r = BitReader::new(bytes, 0);
            let preamble = Preamble::read(&mut r)?;
            let version = FormatVersion::read(&mut r)?;
            Ok(((preamble, version), r.bit() / 8))
        })?;
        let seen = Trailer { header_crc: source.take_crc(), chunks: Vec::new() };
        Ok(Self {
            source,
            limits,
            preamble,
            version,
            checks: true,
            current: None,
            before: 0,
            seen,
            emitted_bytes: 0,
            workshop: Workshop::default(),
            terminated: false,
            ending: None,
        })
    }

    /// Begins at chunk `index` of a file whose header is known; `source` gives its bytes from there on.
    pub(crate) fn at_chunk(
        source: S,
        index: usize,
        preamble: Preamble,
        version: FormatVersion,
        limits: Limits,
    ) -> Self {
        Self {
            source,
            limits,
            preamble,
            version,
            checks: true,
            current: None,
            before: index,
            seen: Trailer { header_crc: 0, chunks: Vec::new() },
            emitted_bytes: 0,
            workshop: Workshop::default(),
            terminated: false,
            ending: None,
        }
    }

    /// The number of the chunk that is read, or would be next.
    fn index(&self) -> usize {
        self.before + self.seen.chunks.len()
    }

    /// The chunks that are read to their ends.
    pub(crate) fn seen(&self) -> &[ChunkEntry] {
        &self.seen.chunks
    }

    /// Leaves checksums aside: faster, and [`Engine::finish`] only looks whether a trailer is there,
    /// and has the chunks where they are.
    #[must_use]
    pub(crate) fn without_checks(mut self) -> Self {
        self.checks = false;
        self.source.forget_crc();
        self
    }

    /// Makes tables together with others that decode this file.
    #[must_use]
    pub(crate) fn working_in(mut self, workshop: &Workshop) -> Self {
        self.workshop = workshop.clone();
        self
    }

    /// 0 to 3.
    pub(crate) fn standalone_version(&self) -> u8 {
        self.preamble.standalone_version
    }

    /// The version of the wrapped format inside.
    pub(crate) fn format_version(&self) -> FormatVersion {
        self.version
    }

    /// How many numbers the header announces. A hint: it may be wrong, never allocate by it.
    pub(crate) fn n_hint(&self) -> u64 {
        self.preamble.n_hint
    }

    /// Bytes taken from the reader and understood so far.
    pub(crate) fn position(&self) -> u64 {
        // Behind the end is read what is not understood.
        self.ending.map_or_else(|| self.source.position(), |ending| ending.consumed)
    }

    /// The type of the numbers that come next; `None` at the end of the file.
    ///
    /// Of an empty file that announces a type for all its chunks, that type.
    ///
    /// # Errors
    /// When the next chunk's head or metadata is not sound.
    pub(crate) fn number_type(&mut self) -> Result<Option<NumberType>> {
        Ok(self.chunk()?.map(|info| info.number_type).or(self.preamble.uniform_type))
    }

    /// The chunk of the numbers that come next, `None` at the end of the file.
    ///
    /// # Errors
    /// When its head or metadata is not sound.
    pub(crate) fn chunk(&mut self) -> Result<Option<&ChunkInfo>> {
        if self.current.is_none() && !self.terminated {
            self.open_chunk()?;
        }
        Ok(self.current.as_ref().map(|current| &current.info))
    }

    /// Decodes numbers into `dst` and says how many; fewer than `dst` holds only at the end of
    /// the file or before a chunk of another type, 0 at the end of the file.
    ///
    /// # Errors
    /// Invalid argument when the numbers are not of type `T` or a limit is passed, else what is
    /// wrong with the file and where. Of `dst` then only the first [`Error::values_before`]
    /// numbers have changed, and they are sound.
    pub(crate) fn read<T: Number>(&mut self, dst: &mut [T]) -> Result<usize> {
        self.read_bits(T::TYPE, T::bits_mut(dst))
    }

    /// [`Engine::read`] of numbers of type `ty`, which have latents `L`.
    pub(crate) fn read_bits<L: Latent>(&mut self, ty: NumberType, dst: &mut [L]) -> Result<usize> {
        let mut filled = 0;
        match self.read_into(ty, dst, &mut filled) {
            Ok(()) => Ok(filled),
            Err(e) => Err(e.after_values(filled as u64)),
        }
    }

    /// [`Engine::read`], counting in `filled`.
    fn read_into<L: Latent>(
        &mut self,
        ty: NumberType,
        dst: &mut [L],
        filled: &mut usize,
    ) -> Result<()> {
        while *filled < dst.len() {
            match self.chunk()? {
                None => break,
                Some(info) if info.number_type != ty && *filled > 0 => break,
                Some(info) if info.number_type != ty => {
                    let found = info.number_type;
                    return Err(self.other_type(found, ty));
                }
                Some(_) => {}
            }
            let index = self.index();
            self.read_chunk(ty, dst, filled).map_err(|e| {
                if e.kind() == ErrorKind::Io { e } else { e.within(format!("chunk {index}")) }
            })?;
        }
        Ok(())
    }

    /// How many numbers follow, all of them of type `ty`: [`Engine::read`] up to the end of the
    /// file, with its errors, in less time.
    pub(crate) fn count(&mut self, ty: NumberType) -> Result<u64> {
        let mut n = 0;
        while let Some(info) = self.chunk()? {
            if info.number_type != ty {
                let found = info.number_type;
                return Err(self.other_type(found, ty));
            }
            let index = self.index();
            let checked = self.check_chunk(ty);
            n += checked.map_err(|e| e.within(format!("chunk {index}")))? as u64;
        }
        Ok(n)
    }

    /// Like [`Engine::read`] for a type known only at run time: at most `most` numbers, `None`
    /// at the end of the file.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub(crate) fn read_any(&mut self, most: usize) -> Result<Option<AnyNumbers>> {
        fn typed<S: Supply, L: Latent>(
            decoder: &mut Engine<S>,
            ty: NumberType,
            most: usize,
        ) -> Result<Option<AnyNumbers>> {
            let mut numbers = Vec::<L>::new();
            while numbers.len() < most {
                let have = numbers.len();
                numbers.resize(most.min(have + 65536), L::ZERO);
                let got = decoder.read_bits(ty, &mut numbers[have..])?;
                numbers.truncate(have + got);
                if got == 0 || decoder.chunk()?.is_none_or(|info| info.number_type != ty) {
                    break;
                }
            }
            Ok(Some(AnyNumbers::of_bits(ty, numbers)))
        }
        match self.chunk()?.map(|info| info.number_type) {
            Some(ty) => with_latent!(ty, L => typed::<S, L>(self, ty, most)),
            None => Ok(None),
        }
    }
    /// What is said of the current chunk where another type is asked for. Behind the first one, the
    /// file holds several.
    #[cold]
    fn other_type(&self, found: NumberType, wanted: NumberType) -> Error {
        match (self.index(), &self.current) {
            (index, Some(current)) if index > 0 => {
                Error::invalid(format!("the chunk holds {found}, not {wanted}"))
                    .at_byte(current.offset)
                    .within(format!("chunk {index}"))
            }
            _ => Error::invalid(format!("the file holds {found}, not {wanted}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::standalone::Slice;
    use crate::pco::{Config, compress, decompress, decompress_any};

    /// The chunk of another type is named, with its byte.
    #[test]
    fn a_chunk_of_another_type_is_named() {
        let config = Config::default().checksum(false);
        let mut file = compress(&[7u32; 3], &config).unwrap();
        let other = compress(&[7i32; 3], &config).unwrap();
        // No uniform type, and the second chunk in place of the terminator.
        file[5] = 0;
        let at = file.len() - 1;
        file.truncate(at);
        file.extend(&other[9..]);
        let limits = Limits::default();
        let error = decompress::<u32>(&file).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("invalid argument: chunk 1: the chunk holds i32, not u32 (byte {at})")
        );
        assert_eq!(decompress_any(&file, limits).unwrap_err().to_string(), error.to_string());
        let error = decompress::<i32>(&file).unwrap_err();
        assert_eq!(error.to_string(), "invalid argument: the file holds u32, not i32");
        let mut engine = Engine::new(Slice::starting_at(&file, 0), limits).unwrap();
        assert_eq!(engine.count(NumberType::U32).unwrap_err().at(), Some(at as u64));
    }
}
