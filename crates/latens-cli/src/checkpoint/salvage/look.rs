//! What of a damaged file can be read, and what it costs to lose the rest.

use latens::Result;
use latens::wcodec::checkpoint::{Format, ReadAt};
use latens::wcodec::{LostEntries, Reader};
use std::collections::HashSet;
use std::io::sink;

use super::report::Lost;
use crate::checkpoint::watch::Watched;
use crate::message::one_line;

/// What can be read.
pub struct Found {
    /// Of each source file, whether it is whole; empty where the index does not tell for certain.
    pub files: Vec<bool>,
    /// Tensors that are whole.
    pub whole: Vec<usize>,
    pub lost: Vec<Lost>,
}

/// Reads everything.
///
/// # Errors
/// A limit.
pub fn look<S: ReadAt>(reader: &Reader<S>, whole_index: bool, quiet: bool) -> Result<Found> {
    let watched = Watched::files("salvage", reader, quiet);
    let mut found = Found { files: Vec::new(), whole: Vec::new(), lost: Vec::new() };
    let mut sound = HashSet::new();
    for file in (0..reader.files().count()).filter(|_| whole_index) {
        // What of it is whole may be less than a limit allows, which is asked again when that is written.
        let written = watched.reader.write_file(file, &mut sink());
        found.files.push(written.is_ok());
        if written.is_ok() {
            sound.extend(reader.tensors_of_file(file));
        }
    }
    for (number, entry) in reader.tensors() {
        let is_sound = sound.contains(&number);
        match if is_sound { Ok(()) } else { reader.tensor(number).map(|_| ()) } {
            Ok(()) => found.whole.push(number),
            Err(e) if e.is_limit() => return Err(e),
            Err(e) => found.lost.push(Lost::tensor(entry.name, &e)),
        }
    }
    Ok(found)
}

/// What of source files belongs to no tensor and is not written: `kept` are those that are written as they were,
/// of those `described` the tensors keep the metadata.
pub fn beside_tensors<S: ReadAt>(
    reader: &Reader<S>,
    whole_index: bool,
    kept: &HashSet<usize>,
    described: &HashSet<usize>,
) -> Vec<Lost> {
    if !whole_index {
        let why = "what source files hold beside tensors, and in which order: the index, which is damaged, says that";
        return vec![Lost { why: why.to_owned(), ..Lost::default() }];
    }
    let metadata = |file: usize| reader.metadata(file);
    let is_index = |file: usize| reader.format_of_file(file) == Some(Format::Sharded);
    let told: Vec<_> = described.iter().filter_map(|&file| metadata(file)).collect();
    let mut lost = Vec::new();
    for (file, (name, _)) in reader.files().enumerate().filter(|(file, _)| !kept.contains(file)) {
        for blob in reader.blobs_of_file(file) {
            let bytes = blob.bytes.clone();
            let why = match reader.blob(&blob) {
                Err(e) => {
                    lost.push(Lost::bytes(name, bytes, &e));
                    continue;
                }
                // A header that is written anew.
                Ok(_) if bytes.start == 0 && metadata(file).is_some_and(|m| told.contains(&m)) => {
                    continue;
                }
                Ok(_) if is_index(file) => "the index, which is whole",
                Ok(_) if bytes.start == 0 => "its header and the metadata in it, which are whole",
                Ok(_) => "they belong to no tensor, and are whole",
            };
            let why = format!("{why}; a safetensors file of tensors has no place for that");
            let place = Some([bytes.start, bytes.end]);
            lost.push(Lost { file: Some(name.to_owned()), bytes: place, why, ..Lost::default() });
        }
    }
    lost
}

/// Tensors that a damaged index does not name any more, in words, and from which byte on.
pub fn unnamed<S: ReadAt>(reader: &Reader<S>, lost: LostEntries) -> Option<Lost> {
    let last = reader.tensors().last().map(|(_, entry)| entry.name);
    let behind = last.map_or_else(String::new, |name| format!(" behind {}", one_line(&name)));
    let why = match lost.tensors {
        Some(0) => return None,
        Some(1) => format!("1 tensor{behind}, whose name is lost"),
        Some(n) => format!("{n} tensors{behind}, whose names are lost"),
        None => format!("all tensors{behind}, if there were any"),
    };
    Some(Lost { why, byte: Some(lost.at), ..Lost::default() })
}
