//! The tensors of a file, and its metadata, from which the meaning of one of them is told.

use crate::error::{Error, ErrorKind, Result};
use crate::wcodec::checkpoint::{
    LONGEST_HEADER, Neighbours, Quantization, ReadAt, TensorInfo, metadata_of,
};
use crate::wcodec::dtype::Dtype;
use crate::wcodec::open_index::Doubt;
use crate::wcodec::reader::Reader;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What the index says of a tensor, as a checkpoint has it.
pub(super) fn info<S: ReadAt>(reader: &Reader<S>, number: usize) -> Option<TensorInfo> {
    let entry = reader.entry(number)?;
    let (view, siblings) = Default::default();
    let (dtype, len) = (Dtype::named(entry.dtype), entry.length as u64);
    let (name, unknown, shape) = (entry.name, None, entry.shape);
    Some(TensorInfo {
        name,
        dtype,
        unknown,
        shape,
        file: 0,
        offset: 0,
        len,
        view,
        is_settled: false,
        siblings,
    })
}

/// The tensors of a file, and the metadata in it.
pub(super) struct Held<'a, S: ReadAt> {
    reader: &'a Reader<S>,
    /// Why some of that could not be had; it is not as if there were none.
    wrong: RefCell<Option<Error>>,
}

/// What is known where nobody says anything.
static NOTHING: Quantization = Quantization {
    method: None,
    format: None,
    bits: None,
    group_size: None,
    layers: BTreeMap::new(),
};

impl<'a, S: ReadAt> Held<'a, S> {
    pub(super) fn by(reader: &'a Reader<S>) -> Self {
        Self { reader, wrong: RefCell::new(None) }
    }

    /// `told` by what could be had, unless something could not.
    pub(super) fn finish<T>(self, told: T) -> Result<T> {
        match self.wrong.into_inner() {
            Some(wrong) => Err(wrong.within("what tells how it is packed")),
            None => Ok(told),
        }
    }

    /// What was asked for; nothing, and why, where that is an error.
    fn had<T>(&self, what: Result<T>) -> Option<T> {
        what.map_err(|e| {
            self.wrong.borrow_mut().get_or_insert(e);
        })
        .ok()
    }

    /// The tensor of that name. What a damaged index says of it must be proved, and that it has none proves nothing.
    fn find(&self, name: &str) -> Option<usize> {
        let (found, index) = (self.reader.find(name), &self.reader.open.index);
        let is_proved = found.is_some_and(|number| number < index.proved);
        if index.doubt == Doubt::All && !is_proved {
            let what = format!("what the index, which is damaged, says of {name:?} may be wrong");
            self.had::<()>(Err(Error::corrupt(self.reader.open.index_offset, what)));
        }
        found
    }

    /// What the index keeps of the quantisation, or the header of a source file says.
    fn read_quantization(&self) -> Result<Quantization> {
        let index = &self.reader.open.index;
        if index.doubt != Doubt::Nothing && !index.quantization_is_proved {
            let what = "the index, which is damaged, may have said how weights are quantised";
            return Err(Error::corrupt(self.reader.open.index_offset, what));
        }
        if let Some(told) = &index.quantization {
            return Ok(Quantization::from_record(told));
        }
        // All shards have the same. No more is decoded than one header may have.
        let mut left = 8 + LONGEST_HEADER;
        let files = 0..self.reader.files().count();
        for (header, length) in files.filter_map(|number| self.reader.header(number)) {
            let Some(rest) = left.checked_sub(length) else { break };
            left = rest;
            let said = metadata_of(&self.reader.telling_header(header, length)?);
            let Some(said) = said else { continue };
            let config = said.into_iter().find(|(key, _)| key == "quantization_config");
            return Ok(config.map_or_else(Quantization::default, |(_, text)| {
                Quantization::from_json(text.as_bytes())
            }));
        }
        Ok(Quantization::default())
    }
}

impl<S: ReadAt> Neighbours for Held<'_, S> {
    fn get(&self, name: &str) -> Option<Cow<'_, TensorInfo>> {
        info(self.reader, self.find(name)?).map(Cow::Owned)
    }

    fn bytes(&self, name: &str, most: usize) -> Option<Vec<u8>> {
        let number = self.find(name)?;
        let short = self.had(self.reader.byte_length(number))? <= most;
        self.had(self.reader.telling(short.then_some(number)?))
    }

    fn quantization(&self) -> &Quantization {
        let known = &self.reader.open.quantization;
        let said = match known.get() {
            Some(Some(said)) => return said,
            // It was read once, and not to its end.
            Some(None) => {
                let what = "the metadata of the files, which may say how weights are quantised, cannot be read";
                Err(Error::corrupt(0, what))
            }
            None => self.read_quantization(),
        };
        let is_damage =
            said.as_ref().is_err_and(|e| e.kind() == ErrorKind::Corrupt && !e.is_limit());
        let said = self.had(said);
        match said.is_some() || is_damage {
            true => known.get_or_init(|| said).as_ref().unwrap_or(&NOTHING),
            false => &NOTHING,
        }
    }
}
