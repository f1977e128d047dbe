//! A JSON reader that walks forward and knows the byte where it stands.
//!
//! Headers come from strangers and may have 100 MB: nothing is kept but what the caller asks for,
//! nesting is bounded, and every error has its byte. RFC 8259, strictly.

use crate::error::{Error, Result};

/// Deepest nesting that is read.
const DEEPEST: u32 = 64;

/// A place in a JSON text.
#[derive(Clone)]
pub(super) struct Json<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> Json<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Json { bytes, at: 0, depth: 0 }
    }

    /// Bytes read so far; after white space, those before the next value.
    pub(super) fn at(&mut self) -> u64 {
        self.space();
        self.place()
    }

    fn place(&self) -> u64 {
        u64::try_from(self.at).unwrap_or(u64::MAX)
    }

    fn wrong(&self, what: impl Into<String>) -> Error {
        if self.at >= self.bytes.len() {
            return Error::truncated(self.place(), "the JSON text ends early");
        }
        Error::corrupt(self.place(), what.into())
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// The byte that the next value begins with.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.space();
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.take(byte) {
            return Ok(());
        }
        Err(self.wrong(format!("the JSON text has no '{}' here", char::from(byte))))
    }

    /// Nothing but white space is left.
    pub(super) fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.wrong("there is more behind the end of the JSON text")),
        }
    }

    fn members(
        &mut self,
        ends: [u8; 2],
        mut each: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.expect(ends[0])?;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong(format!("the JSON text nests deeper than {DEEPEST}")));
        }
        if !self.take(ends[1]) {
            loop {
                each(self)?;
                if self.take(ends[1]) {
                    break;
                }
                self.expect(b',')?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// An object: `each` gets each key and the byte where it stands, and must read its value.
    pub(super) fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, String, u64) -> Result<()>,
    ) -> Result<()> {
        self.members(*b"{}", |json| {
            let at = json.at();
            let key = json.string()?;
            json.expect(b':')?;
            each(json, key, at)
        })
    }

    /// An array: `each` must read one value.
    pub(super) fn array(&mut self, each: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.members(*b"[]", each)
    }

    /// A string, its escapes resolved.
    pub(super) fn string(&mut self) -> Result<String> {
        self.expect(b'"')?;
        let mut out = String::new();
        loop {
            let from = self.at;
            while self.bytes.get(self.at).is_some_and(|&b| b != b'"' && b != b'\\' && b >= 0x20) {
                self.at += 1;
            }
            match std::str::from_utf8(&self.bytes[from..self.at]) {
                Ok(text) => out.push_str(text),
                Err(e) => {
                    self.at = from + e.valid_up_to();
                    return Err(self.wrong("a string is not UTF-8"));
                }
            }
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                _ => return Err(self.wrong("a string holds a control character")),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let Some(&letter) = self.bytes.get(self.at) else { return Err(self.wrong("")) };
        self.at += 1;
        Ok(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut unit = self.hex4()?;
                if (0xd800..0xdc00).contains(&unit) && self.bytes[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    let low = self.hex4()?;
                    if !(0xdc00..0xe000).contains(&low) {
                        return Err(self.wrong("a string has half of a surrogate pair"));
                    }
                    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                }
                char::from_u32(unit)
                    .ok_or_else(|| self.wrong("a string has half of a surrogate pair"))?
            }
            _ => {
                self.at -= 1;
                return Err(self.wrong("a string has an unknown escape"));
            }
        })
    }

    fn hex4(&mut self) -> Result<u32> {
        let digits = self.bytes.get(self.at..self.at + 4).unwrap_or(&[]);
        let mut value = 0;
        for &digit in digits {
            let digit = char::from(digit).to_digit(16);
            value =
                value * 16 + digit.ok_or_else(|| self.wrong("a string has an unknown escape"))?;
        }
        if digits.len() < 4 {
            self.at = self.bytes.len();
            return Err(self.wrong(""));
        }
        self.at += 4;
        Ok(value)
    }

    /// A whole number from 0 to 2^64 − 1.
    pub(super) fn number(&mut self) -> Result<u64> {
        self.space();
        let from = self.at;
        let mut value = 0u64;
        while let Some(digit @ b'0'..=b'9') = self.bytes.get(self.at) {
            let next = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(digit - b'0')));
            value = next.ok_or_else(|| self.wrong("a number is over 64 bits"))?;
            self.at += 1;
        }
        let next = self.bytes.get(self.at).copied().unwrap_or(b' ');
        let leading_zero = self.bytes.get(from) == Some(&b'0') && self.at > from + 1;
        if self.at == from || leading_zero || matches!(next, b'.' | b'e' | b'E') {
            return Err(self.wrong("no whole number stands here"));
        }
        Ok(value)
    }

    /// Reads over the next value, whatever it is.
    pub(super) fn skip(&mut self) -> Result<()> {
        match self.peek() {
            Some(b'{') => self.object(|json, _, _| json.skip()),
            Some(b'[') => self.array(Self::skip),
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.any_number(),
            Some(_) => {
                for word in ["true", "false", "null"] {
                    if self.bytes[self.at..].starts_with(word.as_bytes()) {
                        self.at += word.len();
                        return Ok(());
                    }
                }
                Err(self.wrong("no JSON value stands here"))
            }
            None => Err(self.wrong("")),
        }
    }

    fn digits(&mut self) -> Result<()> {
        let from = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        if self.at == from { Err(self.wrong("a number has no digits")) } else { Ok(()) }
    }

    fn any_number(&mut self) -> Result<()> {
        self.at += usize::from(self.bytes.get(self.at) == Some(&b'-'));
        let from = self.at;
        self.digits()?;
        if self.bytes.get(from) == Some(&b'0') && self.at > from + 1 {
            return Err(self.wrong("a number begins with 0"));
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            self.at += usize::from(matches!(self.bytes.get(self.at), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_another_reader() {
        let texts: [&[u8]; 40] = [
            b"{}",
            b"[]",
            b" [1, -2.5e+7 ,true,false,null,\"a\"]\n",
            b"{\"a\":{\"b\":[[]]}}",
            b"0",
            b"-0",
            b"01",
            b"-01.5",
            b"1.",
            b"1e",
            b"1e5",
            b".5",
            b"+1",
            b"[1,]",
            b"[,1]",
            b"{\"a\":1,}",
            b"{\"a\" 1}",
            b"{a:1}",
            b"\"\\u00e9\\n\"",
            b"\"\\ud83d\\ude00\"",
            b"\"\\ud83d\"",
            b"\"\\ude00\"",
            b"\"\\ud83d\\u0041\"",
            b"\"\\x\"",
            b"\"\\u12g4\"",
            b"\"\\u12\"",
            b"\"a\nb\"",
            b"\"a",
            b"\"\xff\"",
            b"",
            b" ",
            b"nul",
            b"nulls",
            b"true false",
            b"{\"a\":1}{",
            b"[[[[[[]]]]]]",
            b"\xef\xbb\xbf{}",
            b"{\"\":\"\"}",
            b"[\"\xf0\x9f\x98\x80\"]",
            b"\"\\\"\"",
        ];
        for text in texts {
            let mut json = Json::new(text);
            let ours = json.skip().and_then(|()| json.end());
            let theirs = serde_json::from_slice::<serde_json::Value>(text);
            let text = String::from_utf8_lossy(text);
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{text}: {ours:?}, {theirs:?}");
        }
        for text in ["\"\\u00e9\\n\"", "\"\\ud83d\\ude00x\"", "\"\\\"\\\\\\/\\b\\f\\r\\t\""] {
            let ours = Json::new(text.as_bytes()).string().unwrap();
            assert_eq!(ours, serde_json::from_str::<String>(text).unwrap());
        }
    }

    #[test]
    fn errors_have_their_byte() {
        let error = Json::new(b"{\"a\": tru}").skip().unwrap_err();
        assert_eq!(error.at(), Some(6), "{error}");
        let error = Json::new(b"18446744073709551616").number().unwrap_err();
        assert_eq!(error.at(), Some(19), "{error}");
        assert_eq!(Json::new(b"18446744073709551615").number().unwrap(), u64::MAX);
        for text in [&b"-1"[..], b"1.5", b"007", b"x", b""] {
            assert!(Json::new(text).number().is_err());
        }
        let deep = [b'['; 100_000];
        assert!(Json::new(&deep).skip().unwrap_err().what().contains("deeper"));
    }
}
