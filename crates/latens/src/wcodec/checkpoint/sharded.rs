//! A checkpoint in several safetensors files: `NAME.safetensors.index.json` with
//! `{"metadata": {…}, "weight_map": {"TENSOR": "FILE", …}}`.

use std::collections::HashSet;

use super::members::Json;
use super::quantization::Quantization;
use super::source::{self, ReadAt};
use super::{Checkpoint, Format, Segment, SourceFile, safetensors};
use crate::error::{Error, Result};

/// Longest index.
const LONGEST_INDEX: u64 = 100_000_000;
/// Most files of one checkpoint.
const MOST_FILES: usize = 65_536;

pub(super) fn read(
    name: String,
    source: Box<dyn ReadAt>,
    shard: &dyn Fn(&str) -> Result<Box<dyn ReadAt>>,
) -> Result<Checkpoint> {
    let index = source::read_all(&*source, LONGEST_INDEX)?;
    let shards = shards(&index).map_err(|e| e.within(name.clone()))?;
    if shards.iter().any(|(_, s)| *s == name) {
        return Err(Error::corrupt(0, "the index names itself as a shard").within(name));
    }
    let len = source.size()?;
    let segments = vec![Segment::Bytes { offset: 0, len }];
    let mut checkpoint = Checkpoint {
        format: Format::Sharded,
        files: vec![SourceFile { name: name.clone(), len, segments }],
        tensors: Vec::new(),
        unnamed: 0,
        quantization: Quantization::default(),
        within: Quantization::default(),
        sources: vec![source],
    };
    for (at, file) in shards {
        // The index is at fault where a file cannot be opened, the file where it cannot be read.
        let open =
            shard(&file).map_err(|e| e.within(file.clone()).at_byte(at).within(name.clone()))?;
        safetensors::add(&mut checkpoint, file.clone(), open).map_err(|e| e.within(file))?;
    }
    Ok(checkpoint)
}

/// The files of an index in the order in which it names them, and where it does.
fn shards(index: &[u8]) -> Result<Vec<(u64, String)>> {
    let (mut shards, mut known, mut found) = (Vec::new(), HashSet::new(), false);
    Json::new(index).members(|key, value| {
        if key != "weight_map" {
            return Ok(());
        }
        found = true;
        value.members(|_, value| {
            let (at, file) = (value.at(), value.parse::<String>()?);
            if known.contains(&file) {
                return Ok(());
            }
            if !is_plain_name(&file) {
                let what =
                    format!("the shard {file:?} is not the plain name of a file in this folder");
                return Err(Error::corrupt(at, what));
            }
            if shards.len() == MOST_FILES {
                return Err(Error::corrupt(at, format!("the index names over {MOST_FILES} files")));
            }
            known.insert(file.clone());
            shards.push((at, file));
            Ok(())
        })
    })?;
    if !found {
        return Err(Error::corrupt(
            0,
            "the index has no weight_map; is it one of safetensors files?",
        ));
    }
    Ok(shards)
}

/// A name that means one file in the folder, on every system.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && !matches!(name, "." | "..")
        && !name.contains(|c: char| c.is_control() || "/\\:*?\"<>|".contains(c))
}
