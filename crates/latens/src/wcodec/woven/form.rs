//! How headers write names.

use crate::bits::varint;
use crate::error::Result;
use crate::wcodec::layout::fields::Fields;
use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

/// How a name is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As it is.
    Plain,
    /// As JSON has it between quotes, in the fewest bytes.
    Json,
    /// The same in ASCII.
    JsonInAscii,
    /// Some of its bytes.
    Part(Range<usize>),
}

impl Form {
    /// Those of JSON.
    pub(super) const OF_JSON: [Self; 2] = [Self::Json, Self::JsonInAscii];

    /// Reads a number, and the form that is told with it; `told` is the varint before.
    pub(super) fn read(told: u64, fields: &mut Fields<'_>) -> Result<(u64, Self)> {
        let form = match told % 4 {
            0 => Self::Plain,
            1 => Self::Json,
            2 => Self::JsonInAscii,
            _ => {
                let start = fields.size("where a part of a name begins")?;
                let length = fields.size("the bytes of a part of a name")?;
                Self::Part(start..start + length)
            }
        };
        Ok((told / 4, form))
    }

    /// Writes a number below 2^61 with this form; `more` is added to it all.
    pub(super) fn write(&self, number: u64, more: u64, out: &mut Vec<u8>) {
        let form = match self {
            Self::Plain => 0,
            Self::Json => 1,
            Self::JsonInAscii => 2,
            Self::Part(_) => 3,
        };
        varint::write(4 * number + form + more, out);
        if let Self::Part(part) = self {
            varint::write(part.start as u64, out);
            varint::write(part.len() as u64, out);
        }
    }

    /// The bytes of `name` in this form; `None` where it has no such part.
    pub(crate) fn of<'n>(&self, name: &'n str) -> Option<Cow<'n, [u8]>> {
        Some(match self {
            Self::Plain => Cow::Borrowed(name.as_bytes()),
            Self::Json => Cow::Owned(quoted(name).into_bytes()),
            Self::JsonInAscii => Cow::Owned(in_ascii(&quoted(name)).into_bytes()),
            Self::Part(part) => {
                let part = name.as_bytes().get(part.clone());
                Cow::Borrowed(part.filter(|part| !part.is_empty())?)
            }
        })
    }
}

/// What is between the quotes of a string of JSON.
fn quoted(name: &str) -> String {
    let text = serde_json::Value::from(name).to_string();
    text.get(1..text.len() - 1).unwrap_or_default().to_owned()
}

fn in_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            ' '..='~' => out.push(char),
            _ => char.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(out, "\\u{unit:04x}");
            }),
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_json_has_them() {
        let name = "a\"\\/\u{8}\t\n\u{c}\r\u{1}\u{1f}\u{7f}\u{e9}\u{1f600}";
        let of = |form: &Form| String::from_utf8(form.of(name).unwrap().into_owned()).unwrap();
        assert_eq!(of(&Form::Plain), name);
        let json = r#"a\"\\/\b\t\n\f\r\u0001\u001f"#;
        assert_eq!(of(&Form::Json), format!("{json}\u{7f}\u{e9}\u{1f600}"));
        let ascii = r"\u007f\u00e9\ud83d\ude00";
        assert_eq!(of(&Form::JsonInAscii), format!("{json}{ascii}"));
        assert_eq!(of(&Form::Part(1..3)), "\"\\");
        for form in [Form::Plain, Form::Json, Form::JsonInAscii, Form::Part(300..302)] {
            let mut out = Vec::new();
            form.write(7, 1, &mut out);
            let mut fields = Fields::new(&out);
            let told = fields.varint("").unwrap() - 1;
            assert_eq!(Form::read(told, &mut fields).unwrap(), (7, form));
            assert_eq!(fields.left(), 0);
        }
        for none in [0..0, 1..1, 0..99, 99..100] {
            assert!(Form::Part(none).of(name).is_none());
        }
    }
}
