//! A run of rows of one column: which are null, and the values of those that are not.

use latens::{AnyNumbers, Number};
use std::any::Any;

/// A run of rows of one column.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Rows, nulls among them.
    pub rows: usize,
    /// One entry a row; absent where none is null.
    pub valid: Option<Vec<bool>>,
    /// The values of the rows that are not null, packed.
    pub values: Values,
}

/// Values, nulls left out.
#[derive(Clone, Debug)]
pub enum Values {
    /// Numbers, and booleans as `u8` 0 or 1.
    Numbers(AnyNumbers),
    /// Wider integers as two words.
    Pairs(Pairs),
    /// Text and binary.
    Bytes(ByteValues),
}

/// Integers of up to 128 bits, or INT96.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// High words: signed, or the Julian day.
    pub high: Vec<i64>,
    /// Low words: unsigned, or the nanoseconds of the day.
    pub low: Vec<u64>,
}

/// Byte strings, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByteValues {
    /// Where each value ends in `data`; it begins where the one before it ends.
    pub ends: Vec<usize>,
    /// All values, joined.
    pub data: Vec<u8>,
}

impl ByteValues {
    /// Append one value.
    pub fn push(&mut self, value: &[u8]) {
        self.data.extend_from_slice(value);
        self.ends.push(self.data.len());
    }

    /// How many values.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The value at `index`, empty past the end.
    pub fn get(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).and_then(|i| self.ends.get(i)).copied().unwrap_or(0);
        let end = self.ends.get(index).copied().unwrap_or(start);
        self.data.get(start..end).unwrap_or_default()
    }

    /// All values in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|i| self.get(i))
    }
}

impl Values {
    /// How many values.
    pub fn len(&self) -> usize {
        match self {
            Values::Numbers(numbers) => numbers.len(),
            Values::Pairs(pairs) => pairs.low.len(),
            Values::Bytes(bytes) => bytes.len(),
        }
    }

    /// Bytes of the values in memory.
    pub fn bytes(&self) -> u64 {
        let bytes = match self {
            Values::Numbers(numbers) => numbers.len() * numbers.number_type().bytes(),
            Values::Pairs(pairs) => pairs.low.len() * 16,
            Values::Bytes(bytes) => bytes.data.len(),
        };
        bytes as u64
    }

    /// The bytes themselves, little-endian.
    pub fn to_le_bytes(&self) -> Vec<u8> {
        match self {
            Values::Numbers(numbers) => numbers.to_le_bytes(),
            Values::Pairs(Pairs { high, low }) => low
                .iter()
                .zip(high)
                .flat_map(|(low, high)| low.to_le_bytes().into_iter().chain(high.to_le_bytes()))
                .collect(),
            Values::Bytes(bytes) => bytes.data.clone(),
        }
    }

    /// Cut the first `n` values off.
    fn split_front(&mut self, n: usize) -> Values {
        fn cut<T>(values: &mut Vec<T>, n: usize) -> Vec<T> {
            let rest = values.split_off(n.min(values.len()));
            std::mem::replace(values, rest)
        }
        fn numbers<T: Number>(numbers: &AnyNumbers, n: usize) -> (AnyNumbers, AnyNumbers) {
            let (front, rest) = numbers
                .as_slice::<T>()
                .and_then(|numbers| numbers.split_at_checked(n))
                .unwrap_or_default();
            (any_numbers(front.to_vec()), any_numbers(rest.to_vec()))
        }
        match self {
            Values::Numbers(all) => {
                let (front, rest) =
                    latens::with_number_type!(all.number_type(), T => numbers::<T>(all, n));
                *all = rest;
                Values::Numbers(front)
            }
            Values::Pairs(Pairs { high, low }) => {
                Values::Pairs(Pairs { high: cut(high, n), low: cut(low, n) })
            }
            Values::Bytes(ByteValues { ends, data }) => {
                let front = cut(ends, n);
                let bytes = front.last().copied().unwrap_or(0);
                ends.iter_mut().for_each(|end| *end -= bytes);
                Values::Bytes(ByteValues { ends: front, data: cut(data, bytes) })
            }
        }
    }

    /// Whether two runs of values are the same, bit by bit; the index of the first that differs.
    pub fn first_difference(&self, other: &Values) -> Option<usize> {
        fn first<T: PartialEq>(a: &[T], b: &[T]) -> Option<usize> {
            (a.len() != b.len() || a != b).then(|| {
                let differ = a.iter().zip(b).position(|(x, y)| x != y);
                differ.unwrap_or_else(|| a.len().min(b.len()))
            })
        }
        fn numbers<T: Number>(a: &AnyNumbers, b: &AnyNumbers) -> Option<usize> {
            let (Some(a), Some(b)) = (a.as_slice::<T>(), b.as_slice::<T>()) else {
                return Some(0);
            };
            let same = |(x, y): (&T, &T)| x.to_bits() == y.to_bits();
            let differ = a.iter().zip(b).position(|pair| !same(pair));
            differ.or_else(|| (a.len() != b.len()).then(|| a.len().min(b.len())))
        }
        match (self, other) {
            (Values::Numbers(a), Values::Numbers(b)) => {
                latens::with_number_type!(a.number_type(), T => numbers::<T>(a, b))
            }
            (Values::Pairs(a), Values::Pairs(b)) => {
                first(&a.low, &b.low).or_else(|| first(&a.high, &b.high))
            }
            (Values::Bytes(a), Values::Bytes(b)) => {
                (a != b).then(|| first(&a.ends, &b.ends).unwrap_or_else(|| first_value(a, b)))
            }
            _ => Some(0),
        }
    }
}

/// Of two that end alike: the first value that differs.
fn first_value(a: &ByteValues, b: &ByteValues) -> usize {
    a.iter().zip(b.iter()).position(|(x, y)| x != y).unwrap_or(0)
}

impl Piece {
    /// Rows without nulls.
    pub fn of(values: Values) -> Piece {
        Piece { rows: values.len(), valid: None, values }
    }

    /// Rows with nulls; `valid` is dropped where all are valid.
    pub fn with_validity(valid: Vec<bool>, values: Values) -> Piece {
        let rows = valid.len();
        let valid = valid.contains(&false).then_some(valid);
        Piece { rows, valid, values }
    }

    /// Rows that are null.
    pub fn nulls(&self) -> usize {
        self.rows - self.values.len()
    }

    /// Whether row `index` holds a value.
    pub fn is_valid(&self, index: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid.get(index).copied().unwrap_or(false))
    }

    /// Cut the first `rows` rows off; all of them where there are no more.
    pub fn split_front(&mut self, rows: usize) -> Piece {
        let rows = rows.min(self.rows);
        let (valid, n) = match &mut self.valid {
            None => (None, rows),
            Some(valid) => {
                let rest = valid.split_off(rows);
                let front = std::mem::replace(valid, rest);
                let n = front.iter().filter(|&&valid| valid).count();
                (Some(front), n)
            }
        };
        self.rows -= rows;
        Piece { rows, valid, values: self.values.split_front(n) }
    }

    /// The first row in which two pieces differ.
    pub fn first_difference(&self, other: &Piece) -> Option<usize> {
        let rows = self.rows.max(other.rows);
        if let Some(row) = (0..rows).find(|&row| {
            let inside = (row < self.rows) == (row < other.rows);
            !inside || self.is_valid(row) != other.is_valid(row)
        }) {
            return Some(row);
        }
        let value = self.values.first_difference(&other.values)?;
        Some((0..rows).filter(|&row| self.is_valid(row)).nth(value).unwrap_or(0))
    }
}

/// Run-time numbers from a vector of a type known at compile time.
pub fn any_numbers<T: Number>(numbers: Vec<T>) -> AnyNumbers {
    macro_rules! wrap {
        ($boxed:expr, $($variant:ident)*) => {{
            let mut boxed: Box<dyn Any> = $boxed;
            $(
                boxed = match boxed.downcast() {
                    Ok(numbers) => return AnyNumbers::$variant(*numbers),
                    Err(boxed) => boxed,
                };
            )*
            drop(boxed);
        }};
    }
    wrap!(Box::new(numbers), U8 U16 U32 U64 I8 I16 I32 I64 F16 F32 F64);
    AnyNumbers::new(T::TYPE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_found_by_bits() {
        let nan = f64::from_bits(0x7ff8_0000_0000_0001);
        let piece = |x: f64| {
            Piece::with_validity(
                vec![false, true, true],
                Values::Numbers(any_numbers(vec![1.0, x])),
            )
        };
        assert_eq!(piece(nan).first_difference(&piece(nan)), None);
        assert_eq!(piece(nan).first_difference(&piece(f64::NAN)), Some(2));
        assert_eq!(piece(0.0).first_difference(&piece(-0.0)), Some(2));
    }

    #[test]
    fn pieces_are_cut() {
        let mut bytes = ByteValues::default();
        ["a", "", "bcd"].iter().for_each(|value| bytes.push(value.as_bytes()));
        let valid = vec![true, false, true, false, true];
        let mut piece = Piece::with_validity(valid, Values::Bytes(bytes));
        let front = piece.split_front(3);
        assert_eq!((front.rows, front.values.len(), piece.rows, piece.values.len()), (3, 2, 2, 1));
        assert!(matches!(&piece.values, Values::Bytes(rest) if rest.get(0) == b"bcd"));
        let mut piece = Piece::of(Values::Numbers(any_numbers(vec![1u8, 2, 3])));
        let front = piece.split_front(2);
        assert_eq!(
            front.first_difference(&Piece::of(Values::Numbers(any_numbers(vec![1u8, 2])))),
            None
        );
        assert_eq!(piece.rows, 1);
    }

    #[test]
    fn byte_strings_know_their_bounds() {
        let mut bytes = ByteValues::default();
        for value in ["a", "", "bcd"] {
            bytes.push(value.as_bytes());
        }
        assert_eq!(bytes.iter().collect::<Vec<_>>(), [&b"a"[..], b"", b"bcd"]);
        assert_eq!(bytes.get(7), b"");
    }
}
