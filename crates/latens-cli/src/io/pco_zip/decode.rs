//! Numbers from a `.pco` member, in batches.

use crate::io::section::{Reader, SharedFile};
use crate::message::{Failure, Result};
use crate::table::piece::any_numbers;
use latens::pco::standalone::Decoder;
use latens::{AnyNumbers, Limits, Number, NumberType, with_number_type};

/// Where a member lies in the archive.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) start: u64,
    pub(super) bytes: u64,
}

/// Most bytes that tables and windows of one chunk may take: far above what any encoder makes.
const MAX_ALLOC: u64 = 64 << 20;

/// A `.pco` member being read.
pub(super) struct NumberReader<T: Number> {
    decoder: Decoder<Reader>,
    place: Place,
    numbers: std::marker::PhantomData<T>,
}

impl<T: Number> NumberReader<T> {
    pub(super) fn open(file: &SharedFile, place: &Place) -> Result<Self> {
        let reader: Reader = Box::new(file.buffered(place.start, place.bytes));
        let limits = Limits::default().max_alloc(MAX_ALLOC);
        let mut decoder = Decoder::new(reader, limits).map_err(|e| placed(e, place))?;
        match decoder.number_type().map_err(|e| placed(e, place))? {
            Some(found) if found != T::TYPE => Err(Failure::new(format!(
                "corrupt: it holds {found}, schema.json says {}",
                T::TYPE
            ))
            .within(place.file.clone())
            .at_byte(place.start)),
            _ => Ok(NumberReader {
                decoder,
                place: place.clone(),
                numbers: std::marker::PhantomData,
            }),
        }
    }

    /// Up to `n` numbers, fewer only at the end.
    pub(super) fn some(&mut self, n: usize) -> Result<Vec<T>> {
        let mut numbers = vec![T::default(); n];
        let got = self.decoder.read(&mut numbers).map_err(|e| placed(e, &self.place))?;
        numbers.truncate(got);
        Ok(numbers)
    }

    /// Exactly `n` numbers.
    pub(super) fn exactly(&mut self, n: usize) -> Result<Vec<T>> {
        let numbers = self.some(n)?;
        if numbers.len() < n {
            let end = self.place.start + self.place.bytes;
            return Err(Failure::new("corrupt: fewer numbers than schema.json says")
                .within(self.place.file.clone())
                .at_byte(end));
        }
        Ok(numbers)
    }

    /// After the last number: the member must end there, and its checksum hold.
    pub(super) fn finish(&mut self) -> Result<()> {
        if !self.some(1)?.is_empty() {
            return Err(Failure::new("corrupt: more numbers than schema.json says")
                .within(self.place.file.clone())
                .at_byte(self.place.start));
        }
        let ending = self.decoder.finish().map_err(|e| placed(e, &self.place))?;
        if ending.trailing || ending.consumed != self.place.bytes {
            return Err(Failure::new("corrupt: bytes follow the end of the Pco data")
                .within(self.place.file.clone())
                .at_byte(self.place.start.saturating_add(ending.consumed)));
        }
        Ok(())
    }
}

/// An error from within a member, with its place in the archive.
fn placed(error: latens::Error, place: &Place) -> Failure {
    Failure::from(error.offset_by(place.start)).within(place.file.clone())
}

/// The same for a type known at run time.
pub(super) trait AnyReader: Send {
    fn exactly(&mut self, n: usize) -> Result<AnyNumbers>;
    fn finish(&mut self) -> Result<()>;
}

impl<T: Number> AnyReader for NumberReader<T> {
    fn exactly(&mut self, n: usize) -> Result<AnyNumbers> {
        NumberReader::exactly(self, n).map(any_numbers)
    }

    fn finish(&mut self) -> Result<()> {
        NumberReader::finish(self)
    }
}

/// A reader of numbers of a type known at run time.
pub(super) fn any_reader(
    number_type: NumberType,
    file: &SharedFile,
    place: &Place,
) -> Result<Box<dyn AnyReader>> {
    with_number_type!(number_type, T => Ok(Box::new(NumberReader::<T>::open(file, place)?)))
}
