//! The index of a sharded checkpoint of which some is lost: without the tensors that are, so that the rest can be opened.

use latens::wcodec::checkpoint::{Format, ReadAt};
use latens::wcodec::{Reader, TensorEntry};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

use super::Content;
use crate::job::Output;
use crate::message::Result;

/// What a shard is written as.
struct Shard {
    name: String,
    /// Its tensors; `None` where it is written as it was.
    tensors: Option<HashSet<String>>,
}

/// Rewrites the index among what is to be written, where it names tensors that are not; one that would name none is left
/// out.
///
/// # Errors
/// The index cannot be read after all.
pub fn without_lost<S: ReadAt>(
    reader: &Reader<S>,
    plan: &mut Vec<(Output, Content)>,
) -> Result<()> {
    let is_index = |content: &Content| match content {
        Content::File(file) => reader.format_of_file(*file) == Some(Format::Sharded),
        _ => false,
    };
    let Some(at) = plan.iter().position(|(_, content)| is_index(content)) else { return Ok(()) };
    let Some((_, Content::File(file))) = plan.get(at) else { return Ok(()) };
    let (file, mut text) = (*file, Vec::new());
    reader.write_file(file, &mut text)?;
    let Ok(Value::Object(mut index)) = serde_json::from_slice(&text) else { return Ok(()) };
    let lost = strike(reader, &mut index, &shards(reader, plan));
    let is_empty = index.get("weight_map").and_then(Value::as_object).is_none_or(Map::is_empty);
    if is_empty && lost > 0 {
        plan.remove(at);
    } else if let Some((_, content)) = plan.get_mut(at).filter(|_| lost > 0) {
        let mut text = serde_json::to_vec_pretty(&index).unwrap_or(text);
        text.push(b'\n');
        *content = Content::Index { file, text, lost };
    }
    Ok(())
}

/// What is to be written of each source file, by its name.
fn shards<S: ReadAt>(reader: &Reader<S>, plan: &[(Output, Content)]) -> HashMap<String, Shard> {
    let names: Vec<String> = reader.files().map(|(name, _)| name.to_owned()).collect();
    let mut shards = HashMap::new();
    for (output, content) in plan {
        let (file, tensors) = match content {
            Content::File(file) => (*file, None),
            Content::Tensors(numbers, Some(file)) => {
                let entries = numbers.iter().filter_map(|&number| reader.entry(number));
                (*file, Some(entries.map(|entry| entry.name).collect()))
            }
            Content::Tensors(_, None) | Content::Index { .. } => continue,
        };
        let written = match output {
            Output::File(path) => path.file_name().map(|name| name.to_string_lossy().into_owned()),
            Output::Stdout => None,
        };
        if let (Some(was), Some(name)) = (names.get(file), written) {
            shards.insert(was.clone(), Shard { name, tensors });
        }
    }
    shards
}

/// Strikes tensors that are not in their shards from an index, and their bytes from the sum of all; how many.
fn strike<S: ReadAt>(
    reader: &Reader<S>,
    index: &mut Map<String, Value>,
    shards: &HashMap<String, Shard>,
) -> usize {
    let Some(Value::Object(map)) = index.get_mut("weight_map") else { return 0 };
    let before = map.len();
    let length = |entry: TensorEntry<'_>| entry.length as u64;
    let mut bytes = 0u64;
    map.retain(|tensor, file| {
        let shard = file.as_str().and_then(|file| shards.get(file));
        let is_there = |shard: &&Shard| shard.tensors.as_ref().is_none_or(|t| t.contains(tensor));
        if let Some(shard) = shard.filter(is_there) {
            *file = shard.name.clone().into();
            return true;
        }
        let entry = reader.find(tensor).and_then(|number| reader.entry(number));
        bytes = bytes.saturating_add(entry.map_or(0, length));
        false
    });
    let lost = before - map.len();
    let total = index.get_mut("metadata").and_then(|about| about.get_mut("total_size"));
    if let Some((total, was)) = total.and_then(|total| total.as_u64().map(|was| (total, was))) {
        *total = was.saturating_sub(bytes).into();
    }
    lost
}
