//! The files beside a checkpoint that say how it is quantised, where they cannot be read: then tensors may be taken for
//! what they are not.

use serde::de::IgnoredAny;
use std::fs;

use crate::job::Input;

/// What should be known of them, a line for each.
pub fn notes(input: &Input) -> Vec<String> {
    let Input::File(path) = input else { return Vec::new() };
    let note = |name: &str| {
        let path = path.with_file_name(name);
        if !path.is_file() {
            return None;
        }
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(e) => return Some(format!("{name} beside it cannot be read: {e}")),
        };
        let wrong = serde_json::from_slice::<IgnoredAny>(&text).err()?;
        Some(format!(
            "{name} beside it is no JSON, and tells nothing of how tensors are packed: {wrong}"
        ))
    };
    ["config.json", "quantize_config.json"].into_iter().filter_map(note).collect()
}
