//! What is whole of a damaged `.wcodec`, as safetensors.

use latens::wcodec::Reader;
use safetensors::tensor::{Dtype, TensorView, serialize};
use std::collections::HashMap;

use crate::io::section::SharedFile;
use crate::message::{Failure, Result};

/// A file, and what is not in it.
pub struct Salvaged {
    /// A safetensors file.
    pub file: Vec<u8>,
    /// Tensors in it.
    pub whole: usize,
    /// Tensors that could not be read, and why.
    pub lost: Vec<(String, latens::Error)>,
}

/// All tensors that can be read. Those of types that safetensors does not have are kept as their
/// bytes, and the metadata say what they were.
///
/// # Errors
/// When the file cannot be made.
pub fn salvage(reader: &Reader<SharedFile>) -> Result<Salvaged> {
    let mut lost = Vec::new();
    let mut kept = Vec::new();
    let mut about = HashMap::new();
    for (number, entry) in reader.tensors() {
        match reader.tensor(number) {
            Ok(bytes) => {
                let shape: Option<Vec<usize>> =
                    entry.shape.iter().map(|&n| usize::try_from(n).ok()).collect();
                let dtype = serde_json::from_value::<Dtype>(entry.dtype.into()).ok();
                kept.push((entry.name.to_string(), dtype.zip(shape), bytes, entry));
            }
            Err(e) => lost.push((entry.name.to_string(), e)),
        }
    }
    let mut views = Vec::new();
    for (name, known, bytes, entry) in &kept {
        let view = known
            .as_ref()
            .and_then(|(dtype, shape)| TensorView::new(*dtype, shape.clone(), bytes).ok());
        let view = match view {
            Some(view) => view,
            None => {
                about
                    .insert(format!("latens.{name}"), format!("{} {:?}", entry.dtype, entry.shape));
                let plain = TensorView::new(Dtype::U8, vec![bytes.len()], bytes);
                plain
                    .map_err(|e| Failure::new(format!("{e}")).within(format!("tensor {name:?}")))?
            }
        };
        views.push((name.as_str(), view));
    }
    let whole = views.len();
    let file = serialize(views, Some(about)).map_err(|e| Failure::new(format!("{e}")))?;
    Ok(Salvaged { file, whole, lost })
}
