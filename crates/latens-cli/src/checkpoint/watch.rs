//! A bar over the tensors of an open `.wcodec`, with the name of the one at hand.

use latens::wcodec::Reader;
use latens::wcodec::checkpoint::ReadAt;
use std::io::{self, Write};

use crate::progress::Progress;

/// The bar of something that is done with each tensor.
pub struct Watch<'a, S: ReadAt> {
    reader: &'a Reader<S>,
    progress: Progress,
}

impl<'a, S: ReadAt> Watch<'a, S> {
    /// As long as the tensors are.
    pub fn new(what: &str, reader: &'a Reader<S>, quiet: bool) -> Self {
        let total = reader.tensors().fold(0u64, |sum, (_, t)| sum.saturating_add(t.length as u64));
        Self::over(total, what, reader, quiet)
    }

    /// Over so many bytes.
    pub fn over(total: u64, what: &str, reader: &'a Reader<S>, quiet: bool) -> Self {
        Watch { reader, progress: Progress::new(what, Some(total), quiet) }
    }

    /// What is written to `out` is done.
    pub fn through<'w, W: Write>(&'w self, out: &'w mut W) -> Through<'w, W> {
        Through { out, progress: &self.progress }
    }

    /// To be told the number of each entry before its turn: those before it are done.
    pub fn by_entry(&self) -> impl FnMut(usize) {
        let mut before = 0;
        move |number| {
            self.progress.add(std::mem::replace(&mut before, self.name(number)));
        }
    }

    /// Shows the name of an entry; its bytes, if it is a tensor.
    pub fn name(&self, number: usize) -> u64 {
        let Some(entry) = self.reader.entry(number) else { return 0 };
        self.progress.say(&entry.name.escape_debug().to_string());
        entry.length as u64
    }

    /// So many more bytes are done.
    pub fn add(&self, bytes: u64) {
        self.progress.add(bytes);
    }
}

/// See [`Watch::through`].
pub struct Through<'w, W: Write> {
    out: &'w mut W,
    progress: &'w Progress,
}

impl<W: Write> Write for Through<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.progress.add(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<S: ReadAt> Drop for Watch<'_, S> {
    fn drop(&mut self) {
        self.progress.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latens::Limits;
    use latens::wcodec::checkpoint::{Checkpoint, Quantization};
    use latens::wcodec::{Config, compress_checkpoint};
    use std::cell::Cell;

    #[test]
    fn all_tensors_are_named_in_every_direction() {
        let header = br#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[3],"data_offsets":[2,5]}}"#;
        let file = [&(header.len() as u64).to_le_bytes()[..], header, &[1, 2, 3, 4, 5]].concat();
        let none = |_: &str| Err(latens::Error::invalid("no shards"));
        let (name, hints) = ("m.safetensors".to_string(), Quantization::default());
        let checkpoint = Checkpoint::read(name, Box::new(file.clone()), hints, &none).unwrap();
        let made = compress_checkpoint(&checkpoint, None, &Config::default(), Vec::new()).unwrap();
        let reader = Reader::open(made, Limits::default()).unwrap();
        let watch = Watch::new("verify", &reader, true);
        let named = Cell::new(0);
        let mut name = |number| named.set(named.get() + watch.name(number));
        reader.verify_watched(&mut name).unwrap();
        assert_eq!(named.replace(0), 5);
        reader.compare_watched(&checkpoint, &mut name).unwrap();
        assert_eq!(named.replace(0), 5);
        let mut out = Vec::new();
        reader.write_file_watched(0, &mut watch.through(&mut out), &mut name).unwrap();
        assert_eq!((named.get(), out), (5, file));
    }
}
