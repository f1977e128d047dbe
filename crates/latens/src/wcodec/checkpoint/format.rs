//! Which kind of file a checkpoint is, by its first bytes.

use super::LONGEST_HEADER;
use crate::wcodec::reader::Reader;

use super::ReadAt;

/// Which kind of file a checkpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One safetensors file.
    Safetensors,
    /// Several safetensors files and their index.
    Sharded,
    /// GGUF.
    Gguf,
}

impl Format {
    /// So many bytes of a file tell which kind it is.
    pub const TELLING: usize = 16;

    /// The kind of a file that begins with these bytes, [`Format::TELLING`] of them where it has so many: names
    /// say less, as files are renamed. `None` where it is no checkpoint.
    pub fn of_start(start: &[u8]) -> Option<Self> {
        if start.starts_with(b"GGUF") {
            return Some(Format::Gguf);
        }
        if let Some((length, [b'{', ..])) = start.split_first_chunk() {
            // The upper half of the length is zero, which text is not.
            if u64::from_le_bytes(*length) <= LONGEST_HEADER {
                return Some(Format::Safetensors);
            }
        }
        let is_text = start.trim_ascii_start().starts_with(b"{") && !start.contains(&0);
        is_text.then_some(Format::Sharded)
    }
}

impl<S: ReadAt> Reader<S> {
    /// The kind of source file `number`, of a sharded checkpoint that of each: safetensors, or the index. `None` where
    /// its first bytes do not tell, or cannot be read.
    pub fn format_of_file(&self, number: usize) -> Option<Format> {
        Format::of_start(&self.file_head(number, Format::TELLING as u64).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell() {
        assert_eq!(Format::of_start(b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0"), Some(Format::Gguf));
        assert_eq!(Format::of_start(b"\x08\0\0\0\0\0\0\0{}      "), Some(Format::Safetensors));
        // A length that is the code of a brace.
        assert_eq!(Format::of_start(b"{\0\0\0\0\0\0\0{\"a\":{\"d"), Some(Format::Safetensors));
        assert_eq!(Format::of_start(b"{\"weight_map\": {"), Some(Format::Sharded));
        assert_eq!(Format::of_start(b"\n  {\n  \"metadata"), Some(Format::Sharded));
        for other in
            [&b"PK\x03\x04\0\0\x08\x08\0\0\0\0\0\0\0\0"[..], b"", b"GGU", b"\x93NUMPY\x01\0"]
        {
            assert_eq!(Format::of_start(other), None);
        }
    }
}
