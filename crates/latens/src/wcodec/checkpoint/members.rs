//! JSON by `serde_json`, with what checkpoints need of it: members in their order, one at a time,
//! and the byte of each, so that errors have one too.
//!
//! Headers come from strangers and may have 100 MB: values stay slices of the text until they are
//! asked for, so that nothing is held but what the caller keeps.

use std::fmt;

use serde_core::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::{Error, Result};

/// A value within a JSON text, not parsed yet.
#[derive(Clone, Copy)]
pub(super) struct Json<'a> {
    text: &'a [u8],
    /// Byte where it begins.
    at: usize,
}

impl<'a> Json<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Json { text, at: 0 }
    }

    /// The byte where it begins in the text that [`Json::new`] got.
    pub(super) fn at(self) -> u64 {
        u64::try_from(self.at).unwrap_or(u64::MAX)
    }

    pub(super) fn bytes(self) -> &'a [u8] {
        self.text
    }

    /// The value as a `T`.
    pub(super) fn parse<T: Deserialize<'a>>(self) -> Result<T> {
        serde_json::from_slice(self.text).map_err(|e| self.wrong(&e))
    }

    /// Calls `each` with the key and the value of every member of an object, in their order.
    pub(super) fn members(self, each: impl FnMut(String, Json<'a>) -> Result<()>) -> Result<()> {
        let (mut failed, mut unread) = (None, None);
        let mut json = serde_json::Deserializer::from_slice(self.text);
        let members = Members { of: self, each, failed: &mut failed, unread: &mut unread };
        let read = json.deserialize_map(members).and_then(|()| json.end());
        match failed {
            Some(error) => Err(error),
            None => read.map_err(|e| match unread {
                Some(key) => self.wrong(&e).within(format!("{key:?}")),
                None => self.wrong(&e),
            }),
        }
    }

    /// The error with its byte, which `serde_json` tells as line and column.
    fn wrong(self, error: &serde_json::Error) -> Error {
        let (line, column) = (error.line(), error.column());
        if error.is_eof() {
            let end = Json { at: self.at + self.text.len(), ..self };
            return Error::truncated(end.at(), "the JSON text ends early");
        }
        let starts = self.text.iter().enumerate().filter(|&(_, &b)| b == b'\n').map(|(i, _)| i + 1);
        let start = std::iter::once(0).chain(starts).nth(line.saturating_sub(1)).unwrap_or(0);
        let place = Json { at: self.at + start + column.saturating_sub(1), ..self };
        let what = error.to_string();
        let what = what.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&what);
        Error::corrupt(place.at(), format!("JSON: {what}"))
    }
}

/// Hands the members of an object on, one at a time.
struct Members<'a, 'f, F> {
    of: Json<'a>,
    each: F,
    /// The error of `each`, which `serde_json` cannot carry.
    failed: &'f mut Option<Error>,
    /// The key of a value that is no JSON.
    unread: &'f mut Option<String>,
}

impl<'a, F: FnMut(String, Json<'a>) -> Result<()>> Visitor<'a> for Members<'a, '_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(mut self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            *self.unread = Some(key);
            let value = map.next_value::<&'a RawValue>()?;
            let key = self.unread.take().unwrap_or_default();
            let text = value.get().as_bytes();
            // The value is borrowed from the text, so the distance of the two is its place.
            let within = text.as_ptr().addr() - self.of.text.as_ptr().addr();
            if let Err(error) = (self.each)(key, Json { text, at: self.of.at + within }) {
                *self.failed = Some(error);
                return Err(A::Error::custom(""));
            }
        }
        Ok(())
    }
}

/// An array of at most `MOST` whole numbers: no header makes us hold more.
pub(super) struct Numbers<const MOST: usize>(pub(super) Vec<u64>);

impl<'de, const MOST: usize> Deserialize<'de> for Numbers<MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        from.deserialize_seq(NumbersVisitor::<MOST>)
    }
}

struct NumbersVisitor<const MOST: usize>;

impl<'de, const MOST: usize> Visitor<'de> for NumbersVisitor<MOST> {
    type Value = Numbers<MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MOST} whole numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut seq: A,
    ) -> std::result::Result<Self::Value, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = seq.next_element()? {
            if numbers.len() == MOST {
                return Err(A::Error::custom(format!("more than {MOST} numbers stand here")));
            }
            numbers.push(number);
        }
        Ok(Numbers(numbers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_order_with_their_bytes() {
        let text = b"{\"a\": 1,\n \"b\" : {\"c\\u0041\":[ 1, 2]}, \"a\":\"\\\"}\"}\n";
        let mut seen = Vec::new();
        Json::new(text)
            .members(|key, value| {
                seen.push((key, value.at()));
                if seen.len() == 2 {
                    value.members(|key, value| {
                        seen.push((key, value.at()));
                        assert_eq!(value.parse::<Numbers<2>>()?.0, [1, 2]);
                        assert!(value.parse::<Numbers<1>>().is_err());
                        Ok(())
                    })?;
                }
                Ok(())
            })
            .unwrap();
        let at = |what: &str| String::from_utf8_lossy(text).find(what).unwrap() as u64;
        let want = [("a", at("1,")), ("b", at("{\"c")), ("cA", at("[ 1")), ("a", at("\"\\\"}"))];
        assert_eq!(seen, want.map(|(key, at)| (key.to_owned(), at)));
    }

    #[test]
    fn errors_have_their_byte() {
        let at = |text: &str| {
            let read = Json::new(text.as_bytes())
                .members(|_, value| value.members(|_, value| value.parse::<u64>().map(drop)));
            read.unwrap_err().at()
        };
        assert_eq!(at("{\"a\": tru}"), Some(9));
        let error = Json::new(b"{\"a\":1,\"b\":[1,\"c\":2]}").members(|_, _| Ok(()));
        assert_eq!(error.as_ref().unwrap_err().at(), Some(17));
        assert!(error.unwrap_err().to_string().contains("\"b\""));
        assert_eq!(at("{\"a\":\n {\"b\": 1, \"c\": \n\"x\"}}"), Some(24));
        assert_eq!(at("{\"a\":\n {\"b\": 1,\n\n \"c\": 1.5}}"), Some(25));
        assert_eq!(at("{\n\n \"a\":7}"), Some(8));
        assert_eq!(at("{} x"), Some(3));
        assert_eq!(at("{\"a\":{}"), Some(7));
        let deep = "[".repeat(100_000);
        assert!(Json::new(deep.as_bytes()).parse::<Numbers<9>>().is_err());
        assert!(Json::new(format!("{{\"a\":{deep}").as_bytes()).members(|_, _| Ok(())).is_err());
    }
}
