//! The same bytes to us and to a peer: the same numbers, and but for what is documented the same
//! verdict.

use super::Verdict;
use super::pages::read;
use crate::common::{Both, difference, pco_decode};
use crate::ground::pco::type_of;
use crate::random::digest;
use latens::delta_binary_packed::{Element, Options, decode};
use latens::{Error, ErrorKind, Limits, NumberType, with_number_type};
use parquet::basic::Encoding;
use parquet::data_type::{Int32Type, Int64Type};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Panics of peers are an answer of theirs: nothing is printed, and a fuzzer does not stop.
pub fn quiet_peers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let file = info.location().map_or("", |location| location.file());
            if !["/pco-", "/parquet-", "/bytes-"].iter().any(|peer| file.contains(peer)) {
                hook(info);
            }
        }));
    });
}

/// The refusals of specs/pco.md, 13.4.
fn is_documented(error: &Error) -> bool {
    error.kind() == ErrorKind::Corrupt
        && [
            "a remainder in the batch that ends here is not below the base",
            "a multiple in the batch that ends here is beyond the floats",
            "a latent in the batch that ends here is too wide for FloatQuant",
            "a lookback of 0 in the batch",
            "latents of a variable that has no bins",
            "bytes after the end are neither a checksum trailer nor nothing",
        ]
        .iter()
        .any(|text| error.what().starts_with(text))
}

/// The bytes are a Pco file, read as the selector's type.
pub fn pco(selector: u8, file: &[u8]) -> Verdict {
    same_as_pco(type_of(selector), file)
}

/// Panics where pco 1.1.0 and we do not agree.
pub fn same_as_pco(ty: NumberType, file: &[u8]) -> Verdict {
    quiet_peers();
    with_number_type!(ty, T => pco_typed::<T>(file))
}

fn pco_typed<T: Both>(file: &[u8]) -> Verdict {
    let limits = Limits::default().max_output(super::MAX_OUTPUT);
    let ours = latens::pco::decompress_with::<T>(file, limits, 1, &latens::Watch::NONE);
    if let Err(error) = &ours
        && error.is_limit()
    {
        return Verdict::Limited;
    }
    match (ours, pco_decode::<T>(file)) {
        (Ok(ours), Ok(theirs)) => {
            assert_eq!(difference(&ours, &theirs), None, "pco decodes other numbers");
            let bytes = ours.len() * T::TYPE.bytes();
            let words = ours.iter().flat_map(|x| latens::Latent::to_u64(x.to_bits()).to_le_bytes());
            Verdict::Accepted { digest: digest(1, &words.collect::<Vec<_>>()), bytes }
        }
        (Ok(_), Err(error)) => panic!("only pco refuses: {error}"),
        (Err(error), Ok(_)) if !is_documented(&error) => panic!("only latens refuses: {error}"),
        (Err(_), _) => Verdict::Refused,
    }
}

/// The bytes are a stream of 32- or 64-bit numbers, as the selector's lowest bit says.
pub fn dbp(selector: u8, page: &[u8]) -> Verdict {
    quiet_peers();
    match selector & 1 {
        0 => dbp_typed(page, |page, n| {
            read::<Int32Type>("int32", Encoding::DELTA_BINARY_PACKED, page, n)
        }),
        _ => dbp_typed(page, |page, n| {
            read::<Int64Type>("int64", Encoding::DELTA_BINARY_PACKED, page, n)
        }),
    }
}

fn dbp_typed<T: Element + PartialEq + std::fmt::Debug + Into<i64>>(
    page: &[u8],
    theirs: impl Fn(&[u8], usize) -> Option<Vec<T>>,
) -> Verdict {
    let limits = Limits::default().max_output(1 << 16);
    let Ok((ours, _)) = decode::<T>(page, limits, Options::default()) else {
        return Verdict::Refused;
    };
    // What they refuse or panic at is theirs; the numbers must be the same where both have some.
    let theirs = catch_unwind(AssertUnwindSafe(|| theirs(page, ours.len())));
    if let Ok(Some(theirs)) = theirs
        && theirs.len() == ours.len()
    {
        assert_eq!(ours, theirs, "parquet decodes other values");
    }
    let bytes: Vec<u8> = ours.iter().flat_map(|&x| Into::<i64>::into(x).to_le_bytes()).collect();
    Verdict::Accepted { digest: digest(0, &bytes), bytes: bytes.len() }
}
