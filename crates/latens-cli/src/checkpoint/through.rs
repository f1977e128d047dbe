//! A checkpoint as people ship it, read to its last byte: it has no checksum, but what cannot be read is found.

use latens::wcodec::checkpoint::{Checkpoint, Segment};

use crate::message::Result;
use crate::parallel;
use crate::progress::Progress;

/// Bytes that are read at a time.
const STRETCH: u64 = 1 << 22;

/// Reads every tensor and all that lies between them.
///
/// # Errors
/// I/O, with the tensor's name, or that of the file where the bytes are no tensor's.
pub fn read(checkpoint: &Checkpoint, quiet: bool) -> Result<()> {
    let files = checkpoint.files.iter();
    let progress = Progress::new("verify", Some(files.clone().map(|file| file.len).sum()), quiet);
    let of_file = files.enumerate().flat_map(|(n, file)| file.segments.iter().map(move |s| (n, s)));
    let all: Vec<(usize, &Segment)> = of_file.collect();
    let done = parallel::map(all.len(), &|index| {
        let (file, segment) = all[index];
        match *segment {
            Segment::Tensor(number) => {
                let Some(t) = checkpoint.tensors.get(number) else { return Ok(()) };
                progress.say(&t.name);
                stretches(t.len, &progress, &mut |at, buf| checkpoint.read_tensor(number, at, buf))
            }
            Segment::Bytes { offset, len } => {
                let name = checkpoint.files.get(file).map_or("", |file| &file.name);
                stretches(len, &progress, &mut |at, buf| {
                    let read = checkpoint.read_at(file, offset + at, buf);
                    read.map_err(|e| e.within(name))
                })
            }
            // They were looked at when the header was read.
            Segment::Zeros { len } => {
                progress.add(len);
                Ok(())
            }
        }
    });
    progress.finish();
    done.map(|_| ())
}

fn stretches(
    len: u64,
    progress: &Progress,
    read: &mut dyn FnMut(u64, &mut [u8]) -> latens::Result<()>,
) -> Result<()> {
    let most = usize::try_from(len.min(STRETCH)).unwrap_or(usize::MAX);
    let (mut buf, mut at) = (vec![0; most], 0);
    while at < len {
        let now = STRETCH.min(len - at);
        let part = buf.get_mut(..usize::try_from(now).unwrap_or(usize::MAX));
        read(at, part.unwrap_or_default())?;
        progress.add(now);
        at += now;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use latens::wcodec::checkpoint::{Quantization, ReadAt};
    use std::io;

    /// A disk with a sector that cannot be read.
    struct Broken {
        bytes: Vec<u8>,
        sector: std::ops::Range<u64>,
    }

    impl ReadAt for Broken {
        fn size(&self) -> io::Result<u64> {
            self.bytes.size()
        }

        fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            match offset < self.sector.end && self.sector.start < offset + buf.len() as u64 {
                true => Err(io::Error::other("Input/output error")),
                false => self.bytes.read_exact_at(buf, offset),
            }
        }
    }

    #[test]
    fn a_byte_that_cannot_be_read_is_found() {
        let header = br#"{"a":{"dtype":"U8","shape":[9000000],"data_offsets":[0,9000000]}}"#;
        let data = 8 + header.len() as u64;
        let bytes = [&(header.len() as u64).to_le_bytes()[..], header, &[7; 9_000_000]].concat();
        let open = |sector| {
            let source = Box::new(Broken { bytes: bytes.clone(), sector });
            let none = |_: &str| Err(latens::Error::invalid("there is no such file"));
            Checkpoint::read("m.safetensors".into(), source, Quantization::default(), &none)
        };
        assert!(read(&open(0..0).unwrap(), true).is_ok());
        let end = bytes.len() as u64;
        let failure = read(&open(end - 1..end).unwrap(), true).unwrap_err();
        let said = failure.to_string();
        assert!(said.contains("Input/output error") && said.contains("tensor \"a\""), "{said}");
        // Where the stretch begins that cannot be read.
        assert!(said.contains(&format!("byte {}", data + 2 * STRETCH)), "{said}");
    }
}
