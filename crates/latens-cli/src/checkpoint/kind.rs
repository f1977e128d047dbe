//! What a file is by its first bytes, and what is said where its name, or the command, says another thing.

use latens::wcodec::checkpoint::Format as Plain;
use std::fs::File;
use std::io::Read;

use crate::format::Format;
use crate::io::section::SharedFile;
use crate::job::Input;
use crate::message::Failure;
use crate::render::next;
use crate::table::reading::named;

/// What a `.wcodec` begins and ends with, a byte aside that tells the two apart.
pub const MAGIC: &[u8] = b"WCODEC\0";

/// What a file is by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Wcodec,
    /// A checkpoint as people ship it.
    Plain(Plain),
}

impl Kind {
    /// `None` where they do not tell.
    pub fn of(file: &SharedFile) -> Option<Self> {
        let mut start = Vec::new();
        file.section(0, Plain::TELLING as u64).read_to_end(&mut start).ok()?;
        match start.starts_with(MAGIC) {
            true => Some(Kind::Wcodec),
            false => Plain::of_start(&start).map(Kind::Plain),
        }
    }

    /// That of an input which can be read again.
    pub fn of_input(input: &Input) -> Option<Self> {
        match input {
            Input::File(path) if path.is_file() => {
                Self::of(&File::open(path).and_then(SharedFile::new).ok()?)
            }
            Input::File(_) | Input::Stdin => None,
        }
    }
}

/// That a file is a checkpoint as people ship it, where a `.wcodec` is wanted, and how it becomes one.
pub fn not_packed(kind: Plain, input: &Input) -> Failure {
    let what = match kind {
        Plain::Gguf => "a GGUF file",
        Plain::Safetensors => "a safetensors file",
        Plain::Sharded => "JSON, as the index of a checkpoint is",
    };
    let failure = Failure::new(format!("this is {what}, and not packed to a .wcodec"));
    named(failure.hint(packed_by(kind, input)), input)
}

/// The command that packs it: with the format, where the name says another one, and an output where that would be the input.
fn packed_by(kind: Plain, input: &Input) -> String {
    let compress = format!("latens compress{}", named_in_command(input));
    let (by_name, is_index) = match input {
        Input::File(path) => (Format::of_path(path), Format::is_index(path)),
        Input::Stdin => (Some(Format::Safetensors), kind == Plain::Sharded),
    };
    let named = matches!(by_name, Some(Format::Safetensors | Format::Gguf));
    let output = if by_name == Some(Format::Wcodec) { " -o OUT.wcodec" } else { "" };
    match kind {
        Plain::Sharded if !is_index => {
            "name it .safetensors.index.json, beside its shards: latens compress packs them".into()
        }
        Plain::Gguf if !named => format!("{compress} --from gguf{output} packs it"),
        Plain::Safetensors if !named => format!("{compress} --from safetensors{output} packs it"),
        _ => format!("{compress} packs it"),
    }
}

/// That a file is a `.wcodec`, where its name or the command says that it is none.
pub fn is_packed(input: &Input) -> Failure {
    let command = format!("latens decompress{} --from wcodec", named_in_command(input));
    let failure = Failure::usage("this is a .wcodec by its first bytes, whatever its name says");
    named(failure.hint(format!("{command} brings the checkpoint back")), input)
}

/// The input as it stands in a command, behind a space.
pub fn named_in_command(input: &Input) -> String {
    let file = match input {
        Input::File(path) => next::quoted(path),
        Input::Stdin => None,
    };
    file.map_or_else(String::new, |file| format!(" {file}"))
}
