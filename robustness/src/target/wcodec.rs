//! WCodec containers: as they come, and taken apart, damaged within and given right checksums.

use super::pco::{marker, untouched};
use super::{MAX_OUTPUT, Verdict, refused};
use crate::ground::checkpoints;
use crate::measure::measured;
use crate::random::{Random, digest};
use crate::strategy::havoc;
use crate::wcodec_common;
use latens::wcodec::Reader;
use latens::{Error, ErrorKind, Limits};

/// The bytes are a container.
pub fn body(_: u8, file: &[u8]) -> Verdict {
    match measured(|| read_all(file)) {
        Ok((digest, bytes)) => Verdict::Accepted { digest, bytes },
        Err(error) => refused(&error, file.len()),
    }
}

/// Eight bytes each seed one change of a part of container `selector`; then all checksums are put
/// right, so that the damage reaches tables, descriptors, views and transforms.
pub fn parts(selector: u8, recipe: &[u8]) -> Verdict {
    let all = checkpoints::parts();
    let mut parts = all[usize::from(selector) % all.len()].1.clone();
    for step in recipe.chunks(8).take(6) {
        let mut seed = [0; 8];
        seed[..step.len()].copy_from_slice(step);
        let mut random = wcodec_common::Random(u64::from_le_bytes(seed));
        let other = &all[random.below(all.len())].1;
        parts.mutate(other, &mut random, |bytes, other, random| {
            if random.below(8) == 0 && !bytes.is_empty() {
                let cut = random.below(bytes.len());
                bytes.truncate(cut);
                bytes.extend_from_slice(other.get(cut..).unwrap_or(&[]));
            }
            havoc(bytes, &mut Random(random.word()), 3);
        });
    }
    body(selector, &parts.bytes())
}

/// Reads all that can be read; the hash of all files and their bytes, or the first error. Every
/// error must have its place.
fn read_all(file: &[u8]) -> Result<(u64, usize), Error> {
    let limits = Limits::default().max_output(MAX_OUTPUT);
    let reader = match Reader::open(file.to_vec(), limits) {
        Ok(reader) => reader.threads(1),
        Err(error) => {
            salvage(file, limits);
            return Err(error);
        }
    };
    let mut first = None;
    let mut note = |error: Error| {
        let placed = error.kind() == ErrorKind::InvalidArgument || error.at().is_some();
        assert!(placed, "an error without its byte: {error}");
        first.get_or_insert(error);
    };
    if let Err(error) = reader.verify() {
        note(error);
    }
    let numbers: Vec<usize> = reader.tensors().map(|(number, _)| number).collect();
    for number in numbers.into_iter().take(40) {
        match reader.tensor(number) {
            Ok(bytes) => into(&reader, number, bytes.len()),
            Err(error) => {
                into(&reader, number, reader.byte_length(number).map_or(0, |n| n.min(1 << 20)));
                note(error);
            }
        }
        let rows = reader.layout(number).map_or(1, |layout| layout.rows);
        // What cannot be had of it as a slice is no damage: a tensor of another view.
        let _ = reader.slice(number, rows / 2..(rows / 2 + 1).min(rows), 0..1);
        let _ = reader.inspect(number);
    }
    let mut sink = Sink(0, 0);
    for number in 0..reader.files().count().min(4) {
        if let Err(error) = reader.write_file(number, &mut sink) {
            note(error);
        }
    }
    first.map_or(Ok((sink.0, sink.1)), Err)
}

/// Decodes to a buffer of the caller, which changes only as far as is said.
fn into(reader: &Reader<Vec<u8>>, number: usize, length: usize) {
    let mut buffer = vec![marker::<u8>(); length];
    if let Err(error) = reader.tensor_into(number, &mut buffer) {
        untouched(&buffer, error.values_before().unwrap_or(0) as usize);
    }
}

/// Reads what can be read of a file that does not open.
fn salvage(file: &[u8], limits: Limits) {
    match Reader::salvage(file.to_vec(), limits) {
        Ok(found) => {
            assert!(!found.damage.is_empty(), "damage of which nothing is said");
            let reader = found.reader.threads(1);
            let numbers: Vec<usize> = reader.tensors().map(|(number, _)| number).collect();
            numbers.into_iter().take(10).for_each(|number| drop(reader.tensor(number)));
        }
        Err(error) => {
            let placed = error.kind() == ErrorKind::InvalidArgument || error.at().is_some();
            assert!(placed, "an error without its byte: {error}");
        }
    }
}

/// Hash and count of what is written.
struct Sink(u64, usize);

impl std::io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        *self = Sink(digest(self.0, bytes), self.1 + bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
