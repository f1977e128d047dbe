//! Symbols that are said apart: too rare for a slot in a table.

use crate::error::{Error, Result};
use crate::wcodec::layout::fields::Fields;
use latens_kernels::dispatch::Present;

/// Symbols that are looked at together: most hold none that is said apart.
const TOGETHER: usize = u64::BITS as usize;
/// The lowest bit of each byte.
const ONES: u64 = u64::MAX / 255;

/// Reads the list of a group, each a symbol of `bits`, that begins at byte `at`, and how far it goes.
pub(super) fn list(stored: &[u8], at: usize, bits: u32) -> Result<(&[u8], usize)> {
    let mut fields = Fields::new(stored);
    fields.bytes(at as u64, "a group's tiles")?;
    let count = fields.varint("the number of escapes")?;
    let first = fields.at();
    let escapes = fields.bytes(count, "the escapes of a group")?;
    if u32::from(escapes.iter().fold(0, |all, symbol| all | symbol)) >> bits != 0 {
        return Err(Error::corrupt(first, format!("an escape is no symbol of {bits} bits")));
    }
    Ok((escapes, stored.len() - fields.left()))
}

/// Puts the next one of `escapes` in place of each symbol `escape`; those that are left over, or nothing where they
/// run out.
pub(super) fn put<'e>(escape: u8, escapes: &'e [u8], symbols: &mut [u8]) -> Option<&'e [u8]> {
    let mut next = escapes.iter();
    let (many, rest) = symbols.as_chunks_mut::<TOGETHER>();
    let all = Present::in_use().call(
        #[inline(always)]
        || {
            for some in many {
                if some.iter().fold(0, |any, &s| any | u8::from(s == escape)) == 0 {
                    continue;
                }
                let mut places = places_of(escape, some);
                while places != 0 {
                    some[places.trailing_zeros() as usize % TOGETHER] = *next.next()?;
                    places &= places - 1;
                }
            }
            for symbol in rest.iter_mut().filter(|symbol| **symbol == escape) {
                *symbol = *next.next()?;
            }
            Some(())
        },
    );
    all.map(|()| next.as_slice())
}

/// Where `symbols` are `symbol`, a bit each.
#[inline(always)]
fn places_of(symbol: u8, symbols: &[u8; TOGETHER]) -> u64 {
    let eight = |eight: &[u8; 8]| {
        let other = u64::from_le_bytes(*eight) ^ (ONES * u64::from(symbol));
        // The highest bit of each byte of `other` that is 0, moved to the lowest; then these side by side.
        let low = ONES * 127;
        let same = !(((other & low) + low) | other | low) >> 7;
        same.wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    let eights = symbols.as_chunks().0.iter().rev();
    eights.fold(0, |places, symbols| places << 8 | eight(symbols))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_finds_its_place(
            symbols in prop::collection::vec(prop_oneof![3 => Just(9u8), 9 => 0..20u8, 1 => any::<u8>()], 0..400),
            listed in prop::collection::vec(any::<u8>(), 0..200),
            escape in prop_oneof![Just(9u8), any::<u8>()],
        ) {
            let mut wanted = symbols.clone();
            let mut next = listed.iter();
            let mut lacking = false;
            for symbol in wanted.iter_mut().filter(|symbol| **symbol == escape) {
                match next.next() {
                    Some(&listed) => *symbol = listed,
                    None => lacking = true,
                }
            }
            let mut found = symbols;
            let left = put(escape, &listed, &mut found);
            prop_assert_eq!(left.is_none(), lacking);
            if let Some(left) = left {
                prop_assert_eq!((left, found), (next.as_slice(), wanted));
            }
        }
    }
}
