//! What the `csv` crate does not tell: a quote that is never closed, and an empty line, which is a
//! row in a file of one column. The bytes go through here on their way to the crate; what a quote, a
//! comma or the end of a line means follows its rules.
//!
//! | state | `"` | `,` | end of line | other |
//! |---|---|---|---|---|
//! | at the start of a field | quoted | next field | next record | plain |
//! | plain | plain | next field | next record | plain |
//! | quoted | behind a quote | quoted | quoted | quoted |
//! | behind a quote | quoted | next field | next record | plain |

use std::collections::VecDeque;
use std::io::{self, Read};

const BUFFER: usize = 1 << 16;
/// What stands for an empty line: a field that is empty.
const EMPTY: &[u8] = b"\"\"";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Record,
    Field,
    Plain,
    Quoted,
    Quote,
}

/// A place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) byte: u64,
    pub(super) line: u64,
}

/// A CSV file on its way to the crate.
pub(super) struct Lines<R> {
    input: R,
    state: State,
    /// Whether the byte before was a carriage return.
    returned: bool,
    here: Place,
    /// Of the quote that was opened last.
    quote: Place,
    /// Fields of the header line so far, and whether it has ended.
    fields: usize,
    header_ended: bool,
    has_ended: bool,
    /// On their way out.
    bytes: Vec<u8>,
    at: usize,
    /// Bytes that have gone out, those in `bytes` included.
    gone: u64,
    /// Where in what has gone out fields were put in, those that still matter, and how many others.
    put_in: VecDeque<u64>,
    forgotten: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        let start = Place { byte: 0, line: 1 };
        Lines {
            input,
            state: State::Record,
            returned: false,
            here: start,
            quote: start,
            fields: 1,
            header_ended: false,
            has_ended: false,
            bytes: Vec::new(),
            at: 0,
            gone: 0,
            put_in: VecDeque::new(),
            forgotten: 0,
        }
    }

    /// The quote that is still open at the end of the file.
    pub(super) fn open_quote(&self) -> Option<Place> {
        (self.has_ended && self.state == State::Quoted).then_some(self.quote)
    }

    /// The offset in the file of one in what has gone out.
    pub(super) fn original(&self, out: u64) -> u64 {
        let before = self.put_in.iter().take_while(|&&at| at < out).count() as u64;
        out - (before + self.forgotten) * EMPTY.len() as u64
    }

    /// Nothing before this offset will be asked for.
    pub(super) fn forget(&mut self, out: u64) {
        while self.put_in.front().is_some_and(|&at| at < out) {
            self.put_in.pop_front();
            self.forgotten += 1;
        }
    }

    /// One more byte of the file.
    fn push(&mut self, byte: u8) {
        let second = byte == b'\n' && std::mem::take(&mut self.returned);
        let is_end = matches!(byte, b'\r' | b'\n');
        self.returned = byte == b'\r' && self.state != State::Quoted;
        self.state = match (self.state, byte) {
            (State::Record, _) if second => State::Record,
            (State::Record, _) if self.is_byte_order_mark(byte) => State::Record,
            (State::Record, _) if is_end => {
                self.empty_line();
                State::Record
            }
            (State::Quoted, b'"') => State::Quote,
            (State::Quoted, _) => State::Quoted,
            (State::Plain, b'"') => State::Plain,
            (state, b'"') => {
                if state != State::Quote {
                    self.quote = self.here;
                }
                State::Quoted
            }
            (_, b',') => {
                self.fields += usize::from(!self.header_ended);
                State::Field
            }
            _ if is_end => {
                self.header_ended = true;
                State::Record
            }
            _ => State::Plain,
        };
        self.here.byte += 1;
        self.here.line += u64::from(byte == b'\n');
        self.bytes.push(byte);
        self.gone += 1;
    }

    fn is_byte_order_mark(&self, byte: u8) -> bool {
        let at = usize::try_from(self.here.byte).unwrap_or(usize::MAX);
        BYTE_ORDER_MARK.get(at) == Some(&byte)
    }

    fn empty_line(&mut self) {
        if self.header_ended && self.fields == 1 {
            self.put_in.push_back(self.gone);
            self.bytes.extend(EMPTY);
            self.gone += EMPTY.len() as u64;
        }
    }
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.bytes.len() && !self.has_ended {
            self.bytes.clear();
            self.at = 0;
            let mut buffer = [0; BUFFER];
            let n = self.input.read(&mut buffer)?;
            self.has_ended = n == 0;
            buffer.iter().take(n).for_each(|&byte| self.push(byte));
        }
        let left = self.bytes.get(self.at..).unwrap_or_default();
        let n = left.len().min(into.len());
        if let (Some(into), Some(left)) = (into.get_mut(..n), left.get(..n)) {
            into.copy_from_slice(left);
        }
        self.at += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(text: &str) -> (String, Option<Place>) {
        let mut lines = Lines::new(text.as_bytes());
        let mut out = String::new();
        lines.read_to_string(&mut out).unwrap();
        (out, lines.open_quote())
    }

    #[test]
    fn an_empty_line_of_one_column_is_an_empty_field() {
        for (text, expected) in [
            ("a\n1\n\n2\n", "a\n1\n\"\"\n2\n"),
            ("\na\r\n1\r\n\r\n\r\n", "\na\r\n1\r\n\"\"\r\n\"\"\r\n"),
            ("a\r1\r\r", "a\r1\r\"\"\r"),
            ("\u{feff}a\n\n", "\u{feff}a\n\"\"\n"),
            ("a,b\n\n1,2\n", "a,b\n\n1,2\n"),
            ("a\n\"x\n\ny\"\n", "a\n\"x\n\ny\"\n"),
        ] {
            assert_eq!(through(text), (expected.to_string(), None), "{text:?}");
        }
    }

    #[test]
    fn quotes_that_are_never_closed() {
        let at = |byte, line| Some(Place { byte, line });
        for (text, quote) in [
            ("a\n\"x\ny\n", at(2, 2)),
            ("a,b\n1,\"2\"\n3,\"4", at(12, 3)),
            ("a\n\"x\"\"\n", at(2, 2)),
            ("\u{feff}\"a\n", at(3, 1)),
            ("a\n5\" pipe\n", None),
            ("a\n\"x\"y\"\n", None),
            ("a\n\"x\"\"\"\n", None),
        ] {
            assert_eq!(through(text).1, quote, "{text:?}");
        }
    }

    #[test]
    fn places_are_those_in_the_file() {
        let mut lines = Lines::new(&b"a\n\n\n1,2\n"[..]);
        let mut out = String::new();
        lines.read_to_string(&mut out).unwrap();
        let at = out.find("1,2").unwrap() as u64;
        assert_eq!((at, lines.original(at)), (8, 4));
        lines.forget(at);
        assert_eq!(lines.original(at), 4);
    }
}
