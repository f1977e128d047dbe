//! A checkpoint in several safetensors files: `NAME.safetensors.index.json` with
//! `{"metadata": {…}, "weight_map": {"TENSOR": "FILE", …}}`.

use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};

use super::members::Json;
use super::quantization::Quantization;
use super::safetensors::{self, Opened};
use super::segments::Listed;
use super::source::{self, ReadAt};
use super::{Checkpoint, Format, LONGEST_NAME, Segment, SourceFile, quoted};
use crate::error::{Error, Result};

/// Longest index.
const LONGEST_INDEX: u64 = 100_000_000;
/// Most files of one checkpoint.
const MOST_FILES: usize = 65_536;

/// Most differences between an index and its shards that are kept.
const MOST_MISMATCHES: usize = 65_536;

/// A file that an index names.
struct Shard {
    file: String,
    /// The first tensor that the index puts into it.
    tensor: String,
    /// Byte of the index where it does.
    at: u64,
}

/// A difference between the index of a checkpoint and its shards.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// The index puts a tensor into a shard that does not have it. Where another one has it, it is that.
    Missing {
        /// Its name.
        tensor: String,
        /// The number of the shard in the checkpoint's files.
        file: usize,
        /// Byte of the index where it names the shard.
        at: u64,
    },
    /// A shard has a tensor of a name too that is another shard's, by the index, or else as that one comes first:
    /// here its bytes are kept as those of the file alone.
    Doubled {
        /// Its name.
        tensor: String,
        /// The number of the shard in the checkpoint's files.
        file: usize,
        /// Byte of the shard where its header speaks of it.
        at: u64,
    },
}

pub(super) fn read(
    name: String,
    source: Box<dyn ReadAt>,
    shard: &dyn Fn(&str) -> Result<Box<dyn ReadAt>>,
) -> Result<Checkpoint> {
    let index = source::read_all(&*source, LONGEST_INDEX)?;
    let shards = shards(&index).map_err(|e| e.within(name.clone()))?;
    if shards.iter().any(|shard| shard.file == name) {
        return Err(Error::corrupt(0, "the index names itself as a shard").within(name));
    }
    let len = source.size()?;
    let segments = vec![Segment::Bytes { offset: 0, len }];
    let mut checkpoint = Checkpoint {
        format: Format::Sharded,
        files: vec![SourceFile { name: name.clone(), len, segments }],
        tensors: Vec::new(),
        unnamed: 0,
        mismatches: Vec::new(),
        quantization: Quantization::default(),
        within: Quantization::default(),
        sources: vec![source.into()],
    };
    let mut opened = Vec::with_capacity(shards.len());
    for (number, Shard { file, tensor, at }) in shards.iter().enumerate() {
        // The index is at fault where a file cannot be opened, the file where it cannot be read.
        let open = shard(file).map_err(|e| e.within(file.clone()).within(quoted(tensor)));
        let open = open.map_err(|e| e.at_byte(*at).within(name.clone()))?;
        let open = safetensors::open(file.clone(), open, number + 1);
        opened.push(open.map_err(|e| e.within(file.clone()))?);
    }
    settle(&index, &shards, &mut opened, &mut checkpoint.mismatches)?;
    for (open, shard) in opened.into_iter().zip(shards) {
        safetensors::add(&mut checkpoint, open).map_err(|e| e.within(shard.file))?;
    }
    Ok(checkpoint)
}

/// Leaves a tensor that several shards have to the one that the index names, or else to the first.
fn settle(
    index: &[u8],
    shards: &[Shard],
    opened: &mut [Opened],
    mismatches: &mut Vec<Mismatch>,
) -> Result<()> {
    let mut note = |mismatch| {
        if mismatches.len() < MOST_MISMATCHES {
            mismatches.push(mismatch);
        }
    };
    // The shard that each is of, and others that have it.
    let (mut homes, mut others) = (HashMap::new(), HashMap::<&str, Vec<usize>>::new());
    for (number, listed) in opened.iter().map(|open| &open.listed).enumerate() {
        for t in listed {
            let name = t.info.name.as_str();
            match homes.entry(name) {
                Entry::Vacant(home) => drop(home.insert(number)),
                Entry::Occupied(_) => others.entry(name).or_default().push(number),
            }
        }
    }
    let numbers = shards.iter().zip(0..).map(|(shard, number)| (shard.file.as_str(), number));
    let numbers: HashMap<&str, usize> = numbers.collect();
    let deep: HashSet<&str> =
        opened.iter().flat_map(|open| open.deep.iter().map(String::as_str)).collect();
    weight_map(index, |tensor, value| {
        let file = value.parse::<String>()?;
        let Some(&number) = numbers.get(file.as_str()) else { return Ok(()) };
        let home = homes.get_mut(tensor.as_str());
        match (home, others.get_mut(tensor.as_str())) {
            (Some(home), _) if *home == number => {}
            (Some(home), Some(others)) if others.contains(&number) => {
                others.iter_mut().filter(|o| **o == number).for_each(|o| *o = *home);
                *home = number;
            }
            // Those have no place in a list of tensors.
            _ if tensor.len() > LONGEST_NAME || deep.contains(tensor.as_str()) => {}
            _ => note(Mismatch::Missing { tensor, file: number + 1, at: value.at() }),
        }
        Ok(())
    })?;
    let is_home = |number, t: &Listed| homes.get(t.info.name.as_str()) == Some(&number);
    let mut kept = Vec::with_capacity(opened.len());
    for (number, open) in opened.iter().enumerate() {
        kept.push(open.listed.iter().map(|t| is_home(number, t)).collect::<Vec<bool>>());
    }
    for (number, (open, kept)) in opened.iter_mut().zip(kept).enumerate() {
        let mut kept = kept.into_iter();
        open.listed.retain(|t| {
            let is_kept = kept.next().unwrap_or(true);
            if !is_kept {
                let tensor = t.info.name.clone();
                note(Mismatch::Doubled { tensor, file: number + 1, at: t.at });
            }
            is_kept
        });
    }
    Ok(())
}

/// Calls `each` with the tensors that an index names, and their files.
fn weight_map(index: &[u8], mut each: impl FnMut(String, Json<'_>) -> Result<()>) -> Result<bool> {
    let mut found = false;
    Json::new(index).members(|key, value| {
        if key != "weight_map" {
            return Ok(());
        }
        found = true;
        value.members(&mut each)
    })?;
    Ok(found)
}

/// The files of an index in the order in which it names them, and where it does.
fn shards(index: &[u8]) -> Result<Vec<Shard>> {
    let (mut shards, mut known) = (Vec::new(), HashSet::new());
    let found = weight_map(index, |tensor, value| {
        let (at, file) = (value.at(), value.parse::<String>()?);
        if known.contains(&file) {
            return Ok(());
        }
        if !is_plain_name(&file) {
            let what = format!("the shard {file:?} is not the plain name of a file in this folder");
            return Err(Error::corrupt(at, what));
        }
        if shards.len() == MOST_FILES {
            return Err(Error::corrupt(at, format!("the index names over {MOST_FILES} files")));
        }
        known.insert(file.clone());
        shards.push(Shard { file, tensor, at });
        Ok(())
    })?;
    if !found {
        return Err(Error::corrupt(
            0,
            "the index has no weight_map; is it one of safetensors files?",
        ));
    }
    if shards.is_empty() {
        return Err(Error::corrupt(0, "the weight_map of the index names no tensor and no file"));
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
