//! Peers, as their users call them.

use super::Verdict;
use super::pages::read;
use crate::common::bits;
use crate::ground::pco::type_of;
use crate::measure::measured;
use crate::random::digest;
use latens::{Latent, with_number_type};
use parquet::basic::Encoding;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};

/// How many values a page is said to hold: as many as it says itself, but not more than any of the
/// grounds has, for a reader knows that from elsewhere.
fn count(page: &[u8]) -> usize {
    const MOST: u64 = 700;
    latens::delta_binary_packed::header(page).map_or(MOST, |h| h.total_count.min(MOST)) as usize
}

/// The crate pco.
pub fn pco(selector: u8, file: &[u8]) -> Verdict {
    with_number_type!(type_of(selector), T => {
        match measured(|| ::pco::standalone::simple_decompress::<T>(file)) {
            Ok(numbers) => {
                let words = bits(&numbers).into_iter().flat_map(|x| x.to_u64().to_le_bytes());
                let digest = digest(0, &words.collect::<Vec<_>>());
                Verdict::Accepted { digest, bytes: numbers.len() * size_of::<T>() }
            }
            Err(_) => Verdict::Refused,
        }
    })
}

/// DELTA_BINARY_PACKED of the crate parquet.
pub fn dbp(selector: u8, page: &[u8]) -> Verdict {
    use Encoding::DELTA_BINARY_PACKED as ENCODING;
    let bytes = if selector & 1 == 0 {
        let read = measured(|| read::<Int32Type>("int32", ENCODING, page, count(page)));
        read.map(|values| values.iter().flat_map(|x| x.to_le_bytes()).collect())
    } else {
        let read = measured(|| read::<Int64Type>("int64", ENCODING, page, count(page)));
        read.map(|values| values.iter().flat_map(|x| x.to_le_bytes()).collect())
    };
    accepted(bytes)
}

fn accepted(bytes: Option<Vec<u8>>) -> Verdict {
    bytes.map_or(Verdict::Refused, |bytes| Verdict::Accepted {
        digest: digest(0, &bytes),
        bytes: bytes.len(),
    })
}

/// DELTA_LENGTH_BYTE_ARRAY of the crate parquet.
pub fn lengths(_: u8, page: &[u8]) -> Verdict {
    strings(Encoding::DELTA_LENGTH_BYTE_ARRAY, page)
}

/// DELTA_BYTE_ARRAY of the crate parquet.
pub fn prefixes(_: u8, page: &[u8]) -> Verdict {
    strings(Encoding::DELTA_BYTE_ARRAY, page)
}

fn strings(encoding: Encoding, page: &[u8]) -> Verdict {
    let read = measured(|| read::<ByteArrayType>("binary", encoding, page, count(page)));
    accepted(read.map(|strings| {
        let with_length = |s: &ByteArray| [&s.len().to_le_bytes()[..], s.data()].concat();
        strings.iter().flat_map(with_length).collect()
    }))
}

/// The crate safetensors.
pub fn safetensors(_: u8, file: &[u8]) -> Verdict {
    let read = measured(|| {
        let tensors = ::safetensors::SafeTensors::deserialize(file).ok()?;
        let all = tensors.iter().map(|(name, tensor)| {
            let shape = format!("{name} {:?} {:?}", tensor.dtype(), tensor.shape());
            digest(digest(0, shape.as_bytes()), tensor.data())
        });
        // In whichever order they come.
        Some(all.fold(0u64, u64::wrapping_add))
    });
    read.map_or(Verdict::Refused, |digest| Verdict::Accepted { digest, bytes: file.len() })
}
