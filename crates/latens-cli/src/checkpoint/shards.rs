//! Where the index of a sharded checkpoint and its shards differ: all bytes are kept, but somebody should know.

use latens::wcodec::checkpoint::{Checkpoint, Mismatch};

use super::damage::Fault;
use crate::job::Input;
use crate::message::{Failure, Result};
use crate::render::units::counted;
use crate::table::reading::named;

/// Fails where the index names tensors that their shards do not have, which are added to `faults`.
///
/// # Errors
/// That one is missing.
pub fn complete(checkpoint: &Checkpoint, input: &Input, faults: &mut Vec<Fault>) -> Result<()> {
    let missing = checkpoint.mismatches.iter().filter_map(|mismatch| match mismatch {
        Mismatch::Missing { tensor, file, at } => Some(Fault {
            tensor: Some(tensor.clone()),
            what: format!(
                "the index puts it into {}, which does not have it",
                name(checkpoint, *file)
            ),
            group: None,
            byte: Some(*at),
        }),
        _ => None,
    });
    faults.extend(missing);
    let Some(Fault { tensor, what, byte, .. }) = faults.first() else { return Ok(()) };
    let failure = Failure::new(what.clone())
        .within(format!("tensor {:?}", tensor.as_deref().unwrap_or_default()));
    let failure = failure.at_byte(byte.unwrap_or(0));
    Err(named(
        failure.hint("a shard is of another checkpoint, or the index is; get both again"),
        input,
    ))
}

/// What should be known, a line for each kind of difference.
pub fn notes(checkpoint: &Checkpoint) -> Vec<String> {
    let (mut missing, mut doubled) = (Vec::new(), Vec::new());
    for mismatch in &checkpoint.mismatches {
        match mismatch {
            Mismatch::Missing { tensor, file, .. } => missing.push((tensor, *file)),
            Mismatch::Doubled { tensor, file, .. } => doubled.push((tensor, *file)),
            _ => {}
        }
    }
    let line = |all: &[(&String, usize)], says: &dyn Fn(&str, &str) -> String| {
        let (tensor, file) = all.first()?;
        let more = match all.len() - 1 {
            0 => String::new(),
            more => format!("; so with {}", counted(more as u64, "more tensor")),
        };
        Some(format!("{}{more}", says(tensor, name(checkpoint, *file))))
    };
    let missing = line(&missing, &|tensor, file| {
        format!("the index puts {tensor} into {file}, which does not have it")
    });
    let doubled = line(&doubled, &|tensor, file| {
        format!("{file} has a tensor {tensor} too, which is kept as bytes: it is another shard's")
    });
    missing.into_iter().chain(doubled).collect()
}

fn name(checkpoint: &Checkpoint, file: usize) -> &str {
    checkpoint.files.get(file).map_or("", |file| &file.name)
}
