//! Tensors of a `.wcodec` as a safetensors file of their own.

use latens::wcodec::dtype::{Dtype, elements};
use latens::wcodec::{Reader, TensorEntry};
use serde_json::{Map, Value, json};
use std::io::Write;

use crate::io::section::SharedFile;
use crate::message::{Failure, Result};

/// The member of a safetensors header that is no tensor.
const METADATA: &str = "__metadata__";

/// Writes tensors `numbers`, decoded one at a time, with this metadata. Tensors of types that
/// safetensors does not have are kept as their bytes, and the metadata say what they were.
///
/// # Errors
/// Those of decoding; I/O.
pub fn write(
    reader: &Reader<SharedFile>,
    numbers: &[usize],
    metadata: Vec<(String, String)>,
    out: &mut impl Write,
) -> Result<()> {
    let mut about: Map<String, Value> =
        metadata.into_iter().map(|(key, text)| (key, text.into())).collect();
    let mut header = Map::new();
    let mut tensors: Vec<(usize, TensorEntry<'_>)> =
        numbers.iter().filter_map(|&number| Some((number, reader.entry(number)?))).collect();
    // Wide elements first: then each tensor lies on a multiple of its width.
    tensors.sort_by_key(|(_, entry)| std::cmp::Reverse(Dtype::named(entry.dtype).width()));
    let (mut end, renamed) = (0, renamed(reader, numbers));
    for (_, entry) in &tensors {
        let other = renamed.as_ref().filter(|[name, _]| *name == entry.name);
        let name = other.map_or(&entry.name, |[_, written]| written);
        let (dtype, shape) = match has_type(entry) {
            true => (entry.dtype, entry.shape.clone()),
            false => ("U8", vec![entry.length as u64]),
        };
        if dtype != entry.dtype || other.is_some() {
            let named = other.map_or_else(String::new, |[name, _]| format!(", named {name}"));
            let was = format!("{} {:?}{named}", entry.dtype, entry.shape);
            about.insert(format!("latens.{name}"), was.into());
        }
        let place = [end, end + entry.length];
        end += entry.length;
        let fields = json!({"dtype": dtype, "shape": shape, "data_offsets": place});
        header.insert(name.clone(), fields);
    }
    header.insert(METADATA.into(), about.into());
    let header = serde_json::to_vec(&header);
    let mut header = header.map_err(|e| Failure::new(format!("the header is no JSON: {e}")))?;
    header.resize(header.len().next_multiple_of(8), b' ');
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(&header)?;
    for (number, _) in tensors {
        out.write_all(&reader.tensor(number)?)?;
    }
    Ok(())
}

/// The tensor among `numbers` whose name means something else in safetensors, and what it is called there.
pub fn renamed(reader: &Reader<SharedFile>, numbers: &[usize]) -> Option<[String; 2]> {
    reader.find(METADATA).filter(|number| numbers.contains(number))?;
    let mut written = format!("{METADATA}.tensor");
    while reader.find(&written).is_some() {
        written.push('_');
    }
    Some([METADATA.into(), written])
}

/// How many of tensors `numbers` are kept as their bytes.
pub fn as_bytes(reader: &Reader<SharedFile>, numbers: &[usize]) -> usize {
    let entries = numbers.iter().filter_map(|&number| reader.entry(number));
    entries.filter(|entry| !has_type(entry)).count()
}

/// Whether safetensors has the type, and the shape is that of the bytes.
fn has_type(entry: &TensorEntry<'_>) -> bool {
    let dtype = Dtype::from_safetensors(entry.dtype);
    let bytes = dtype.and_then(|dtype| dtype.bytes(elements(&entry.shape)?));
    bytes == Some(entry.length as u64)
}
