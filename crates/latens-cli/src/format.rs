//! File formats by name and by extension.

use clap::ValueEnum;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A file format that the tool knows by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// NumPy array.
    Npy,
    /// Bare little-endian numbers.
    Raw,
    /// Comma-separated values with a header line.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// One column, standalone Pco.
    Pco,
    /// Several columns or an n-dimensional array: a ZIP of Pco members.
    #[value(name = "pco.zip")]
    PcoZip,
    /// Safetensors checkpoint.
    Safetensors,
    /// GGUF checkpoint.
    Gguf,
    /// Bare Parquet DELTA_BINARY_PACKED stream.
    Dbp,
    /// Compressed checkpoint.
    Wcodec,
}

impl Format {
    /// The name as it stands after `--from` and `--to`, and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Raw => "raw",
            Format::Csv => "csv",
            Format::Parquet => "parquet",
            Format::Pco => "pco",
            Format::PcoZip => "pco.zip",
            Format::Safetensors => "safetensors",
            Format::Gguf => "gguf",
            Format::Dbp => "dbp",
            Format::Wcodec => "wcodec",
        }
    }

    /// By the end of the file's name, in any case; `None` where that says nothing.
    pub fn of_path(path: &Path) -> Option<Format> {
        split(path.file_name()?).map(|(format, _)| format)
    }

    /// Whether it is, by its name, the index of a checkpoint in several files.
    pub fn is_index(path: &Path) -> bool {
        path.file_name().is_some_and(|name| index(name.as_bytes()).is_some())
    }

    /// The name of `path` without the extension, that of its format where it has one, as text.
    pub fn stem(path: &Path) -> String {
        let stem = path.file_name().and_then(split).map(|(_, stem)| stem);
        let stem = stem.or_else(|| path.file_stem().map(OsStr::to_os_string)).unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }

    /// `path` with this extension in place of that of its format; every other byte stays. Where the name tells no format,
    /// all of it does: in `Llama-3.2-1B` a point is no end.
    pub fn beside(path: &Path, extension: &str) -> PathBuf {
        let whole = path.file_name().unwrap_or_default();
        let mut name = split(whole).map_or_else(|| whole.to_os_string(), |(_, stem)| stem);
        name.push(".");
        name.push(extension);
        path.with_file_name(name)
    }

    /// Whether the format holds a table or an n-dimensional array rather than one bare column.
    pub fn is_table(self) -> bool {
        matches!(self, Format::Csv | Format::Parquet | Format::PcoZip)
    }

    /// Whether its bytes are text that may go to a terminal.
    pub fn is_text(self) -> bool {
        self == Format::Csv
    }
}

/// The format of a file by its name, and the name without the end that says it.
fn split(name: &OsStr) -> Option<(Format, OsString)> {
    const ENDS: [(&str, Format); 12] = [
        (".npy", Format::Npy),
        (".raw", Format::Raw),
        (".bin", Format::Raw),
        (".csv", Format::Csv),
        (".parquet", Format::Parquet),
        (".pq", Format::Parquet),
        (".pco", Format::Pco),
        (".pco.zip", Format::PcoZip),
        (".safetensors", Format::Safetensors),
        (".gguf", Format::Gguf),
        (".dbp", Format::Dbp),
        (".wcodec", Format::Wcodec),
    ];
    let bytes = name.as_bytes();
    let (format, stem) = match index(bytes) {
        Some(stem) => (Format::Safetensors, stem),
        None => {
            let lower = bytes.to_ascii_lowercase();
            let (end, format) = ENDS.iter().find(|(end, _)| lower.ends_with(end.as_bytes()))?;
            (*format, bytes.get(..bytes.len() - end.len())?.to_vec())
        }
    };
    // What begins with the point is a name of a hidden file.
    Some((format, if stem.is_empty() { name.to_os_string() } else { OsString::from_vec(stem) }))
}

/// The name of an index of shards without what says that it is one: `model.safetensors.index.json`, or
/// `model.safetensors.index.fp16.json`, which keeps its variant.
fn index(name: &[u8]) -> Option<Vec<u8>> {
    const MIDDLE: &[u8] = b".safetensors.index";
    let lower = name.to_ascii_lowercase();
    let lower = lower.strip_suffix(b".json")?;
    let at = lower.windows(MIDDLE.len()).rposition(|part| part == MIDDLE)?;
    let variant = name.get(at + MIDDLE.len()..lower.len())?;
    let fits = variant.is_empty() || variant.starts_with(b".");
    fits.then(|| [name.get(..at).unwrap_or_default(), variant].concat())
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_extension() {
        let of = |name: &str| Format::of_path(Path::new(name));
        assert_eq!(of("a/b.NPY"), Some(Format::Npy));
        assert_eq!(of("x.pco.zip"), Some(Format::PcoZip));
        assert_eq!(of("x.pco"), Some(Format::Pco));
        assert_eq!(of("x.zip"), None);
        assert_eq!(of("model.safetensors.index.json"), Some(Format::Safetensors));
        assert_eq!(of("-"), None);
        assert_eq!(of("Llama-3.2-1B"), None);
        assert_eq!(of("model.safetensors.index.fp16.json"), Some(Format::Safetensors));
        assert_eq!(of("model.safetensors.indexes.json"), None);
        assert!(Format::is_index(Path::new("a/M.Safetensors.Index.JSON")));
        assert!(!Format::is_index(Path::new("a/m.safetensors")));
    }

    #[test]
    fn stems() {
        assert_eq!(Format::stem(Path::new("d/flights.pco.zip")), "flights");
        assert_eq!(Format::stem(Path::new("a.b.npy")), "a.b");
        assert_eq!(Format::stem(Path::new("m.safetensors.index.json")), "m");
        assert_eq!(Format::stem(Path::new("noext")), "noext");
        assert_eq!(Format::stem(Path::new(".hidden")), ".hidden");
        assert_eq!(Format::stem(Path::new(".npy")), ".npy");
        assert_eq!(Format::stem(Path::new("values.txt")), "values");
    }

    #[test]
    fn beside() {
        let beside = |name: &str| Format::beside(Path::new(name), "wcodec");
        assert_eq!(beside("d/m.safetensors"), Path::new("d/m.wcodec"));
        assert_eq!(beside("Llama-3.2-1B"), Path::new("Llama-3.2-1B.wcodec"));
        assert_eq!(beside("m.safetensors.index.json"), Path::new("m.wcodec"));
        assert_eq!(beside("m.safetensors.index.fp16.json"), Path::new("m.fp16.wcodec"));
        let bytes = |name: &[u8]| OsStr::from_bytes(name).to_os_string();
        let odd = Format::beside(Path::new(&bytes(b"\xff.\xfe.gguf")), "wcodec");
        assert_eq!(odd, Path::new(&bytes(b"\xff.\xfe.wcodec")));
    }
}
