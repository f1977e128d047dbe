//! The Python dictionary inside of a `.npy` header, and nothing else of Python.
//!
//! ```text
//! dict  = '{' key ':' value { ',' key ':' value } [ ',' ] '}' spaces
//! value = string | 'True' | 'False' | '(' [ int { ',' int } [ ',' ] ] ')' | '[' … ']'
//! ```

use crate::message::{Failure, Result};

/// The three entries that every header has, each exactly once.
#[derive(Debug)]
pub struct Fields {
    /// `<f8`, or the text of a list where the type has fields.
    pub descr: String,
    /// First index fastest.
    pub fortran: bool,
    /// Extents.
    pub shape: Vec<u64>,
}

/// Parse the whole text; offsets in errors count from its start.
///
/// # Errors
/// Corrupt, with the offset of the first byte that does not fit.
pub fn parse(text: &[u8]) -> Result<Fields> {
    let mut p = Parser { text, at: 0 };
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    p.expect(b'{', "the '{' of the dictionary")?;
    while !p.eat(b'}') {
        let at = p.at;
        let key = p.string()?;
        p.expect(b':', "':' after a key")?;
        let again = match key.as_str() {
            "descr" => descr.replace(p.descr()?).is_some(),
            "fortran_order" => fortran.replace(p.boolean()?).is_some(),
            "shape" => shape.replace(p.shape()?).is_some(),
            other => return Err(p.wrong_at(at, format!("the .npy header has a key '{other}'"))),
        };
        if again {
            return Err(p.wrong_at(at, format!("the .npy header has two keys '{key}'")));
        }
        if !p.eat(b',') {
            p.expect(b'}', "',' or '}' after an entry")?;
            break;
        }
    }
    p.spaces();
    if p.at < text.len() {
        return Err(p.wrong("nothing but spaces after the dictionary"));
    }
    match (descr, fortran, shape) {
        (Some(descr), Some(fortran), Some(shape)) => Ok(Fields { descr, fortran, shape }),
        _ => Err(p.wrong_at(0, "the .npy header lacks one of descr, fortran_order, shape".into())),
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn wrong_at(&self, at: usize, what: String) -> Failure {
        Failure::new(format!("corrupt: {what}")).at_byte(at as u64)
    }

    fn wrong(&self, expected: &str) -> Failure {
        self.wrong_at(self.at, format!("the .npy header should have {expected} here"))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn spaces(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.spaces();
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<()> {
        if self.eat(byte) { Ok(()) } else { Err(self.wrong(what)) }
    }

    fn word(&mut self, word: &str) -> bool {
        self.spaces();
        let there = self.text[self.at..].starts_with(word.as_bytes());
        self.at += if there { word.len() } else { 0 };
        there
    }

    /// A quoted string of printable characters without escapes.
    fn string(&mut self) -> Result<String> {
        self.spaces();
        let quote = self.peek().filter(|q| matches!(q, b'\'' | b'"'));
        let Some(quote) = quote else { return Err(self.wrong("a quoted string")) };
        self.at += 1;
        let start = self.at;
        while let Some(b) = self.peek() {
            if b == quote {
                let inside = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
                self.at += 1;
                return Ok(inside);
            }
            if b == b'\\' || b.is_ascii_control() {
                return Err(self.wrong("no escapes and no control characters in a string"));
            }
            self.at += 1;
        }
        Err(self.wrong("a closing quote"))
    }

    /// A string, or the text of a balanced list: named in the refusal, never interpreted.
    fn descr(&mut self) -> Result<String> {
        self.spaces();
        let start = self.at;
        if self.peek() != Some(b'[') {
            return self.string();
        }
        let mut depth = 0usize;
        while let Some(b) = self.peek() {
            match b {
                b'[' | b'(' => depth += 1,
                b']' | b')' => depth -= 1,
                b'\'' | b'"' => {
                    self.string()?;
                    continue;
                }
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                let list = String::from_utf8_lossy(&self.text[start..self.at]);
                return Ok(match list.char_indices().nth(60) {
                    Some((cut, _)) => format!("{}…", &list[..cut]),
                    None => list.into_owned(),
                });
            }
        }
        Err(self.wrong("the ']' of a list"))
    }

    fn boolean(&mut self) -> Result<bool> {
        if self.word("True") {
            Ok(true)
        } else if self.word("False") {
            Ok(false)
        } else {
            Err(self.wrong("True or False"))
        }
    }

    fn shape(&mut self) -> Result<Vec<u64>> {
        self.expect(b'(', "the '(' of the shape")?;
        let mut shape = Vec::new();
        while !self.eat(b')') {
            shape.push(self.extent()?);
            // `(3)` is a number in Python, not a tuple.
            if !self.eat(b',') {
                if shape.len() == 1 {
                    return Err(self.wrong("',' in a shape of one dimension"));
                }
                self.expect(b')', "',' or ')' in the shape")?;
                break;
            }
        }
        Ok(shape)
    }

    /// Digits, and the `L` that Python 2 put behind them.
    fn extent(&mut self) -> Result<u64> {
        self.spaces();
        let start = self.at;
        let mut n = 0u64;
        while let Some(b @ b'0'..=b'9') = self.peek() {
            let grown = n.checked_mul(10).and_then(|n| n.checked_add(u64::from(b - b'0')));
            n = grown.ok_or_else(|| self.wrong_at(start, "an extent of 2^64 or more".into()))?;
            self.at += 1;
        }
        if self.at == start {
            return Err(self.wrong("a number of the shape"));
        }
        if self.peek() == Some(b'L') {
            self.at += 1;
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict() {
        for bad in [
            "",
            "{",
            "{}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3,),} x",
            "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'more': 1}",
            "{'descr': '<\\x668', 'fortran_order': False, 'shape': (3,)}",
            "{'descr': [('a', '<f8'), 'fortran_order': False, 'shape': (3,)}",
        ] {
            let message = parse(bad.as_bytes()).unwrap_err().to_string();
            assert!(message.contains("byte "), "{bad}: {message}");
        }
    }

    #[test]
    fn dimensions() {
        let shape = |s: &str| {
            let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {s}, }}  \n");
            parse(text.as_bytes()).unwrap().shape
        };
        assert_eq!(shape("()"), [0u64; 0]);
        assert_eq!(shape("(5,)"), [5]);
        assert_eq!(shape("(5, 6)"), [5, 6]);
        assert_eq!(shape("(5,6,)"), [5, 6]);
    }
}
