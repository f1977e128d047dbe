//! The public corpus: one-dimensional little-endian `.npy` columns in a folder.

use latens::{AnyNumbers, NumberType};
use std::path::Path;

/// A column of the corpus.
pub struct Column {
    /// The file's stem.
    pub name: String,
    /// Its numbers.
    pub numbers: AnyNumbers,
}

/// Reads every `.npy` of a folder, by name; `only` keeps names that contain it.
///
/// # Errors
/// When the folder or a file cannot be read, or a file is no one-dimensional column.
pub fn read(folder: &Path, only: Option<&str>) -> Result<Vec<Column>, Box<dyn std::error::Error>> {
    let mut columns = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_owned();
        if path.extension().is_none_or(|e| e != "npy") || only.is_some_and(|o| !name.contains(o)) {
            continue;
        }
        let bytes = std::fs::read(&path)?;
        let numbers = npy(&bytes).ok_or_else(|| format!("{name}: not a 1-D little-endian .npy"))?;
        columns.push(Column { name, numbers });
    }
    columns.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(columns)
}

fn npy(bytes: &[u8]) -> Option<AnyNumbers> {
    let header_len = usize::from(u16::from_le_bytes(bytes.get(8..10)?.try_into().ok()?));
    let header = std::str::from_utf8(bytes.get(10..10 + header_len)?).ok()?;
    let descr = header.split("'descr': '").nth(1)?.split('\'').next()?;
    let ty = match descr {
        "|u1" => NumberType::U8,
        "<u2" => NumberType::U16,
        "<u4" => NumberType::U32,
        "<u8" => NumberType::U64,
        "|i1" => NumberType::I8,
        "<i2" => NumberType::I16,
        "<i4" => NumberType::I32,
        "<i8" => NumberType::I64,
        "<f2" => NumberType::F16,
        "<f4" => NumberType::F32,
        "<f8" => NumberType::F64,
        _ => return None,
    };
    AnyNumbers::from_le_bytes(ty, bytes.get(10 + header_len..)?).ok()
}
