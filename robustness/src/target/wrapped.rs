//! Wrapped Pco: header, chunk metadata, one page.

use super::pco::{marker, untouched};
use super::{Verdict, refused};
use crate::ground::pco::type_of;
use crate::measure::measured;
use crate::random::digest;
use latens::pco::wrapped::FileDecoder;
use latens::{Error, Latent, Limits, Number, with_number_type};

/// Two bytes of count, as a container would say it, then the parts. The selector is the type.
pub fn body(selector: u8, bytes: &[u8]) -> Verdict {
    let Some((n, parts)) = bytes.split_at_checked(2) else { return Verdict::Refused };
    let n = usize::from(u16::from_le_bytes([n[0], n[1]]));
    with_number_type!(type_of(selector), T => typed::<T>(n, parts))
}

fn typed<T: Number>(n: usize, parts: &[u8]) -> Verdict {
    let mut buffer = vec![marker::<T>(); n + 5];
    let decoded = measured(|| decode(parts, &mut buffer[..n]));
    match decoded {
        Ok(()) => {
            untouched(&buffer, n);
            let bits = buffer[..n].iter().map(|x| x.to_bits().to_u64());
            let bytes: Vec<u8> = bits.flat_map(u64::to_le_bytes).collect();
            Verdict::Accepted { digest: digest(n as u64, &bytes), bytes: n * T::TYPE.bytes() }
        }
        Err(error) => {
            untouched(&buffer, error.values_before().unwrap_or(0) as usize);
            refused(&error, parts.len())
        }
    }
}

fn decode<T: Number>(parts: &[u8], dst: &mut [T]) -> Result<(), Error> {
    let limits = Limits::default();
    let (file, header) = FileDecoder::new(parts, limits)?;
    let rest = &parts[header..];
    let (chunk, meta) = file.chunk_decoder::<T>(rest)?;
    let page = &rest[meta..];
    let taken = chunk.decode_page(page, dst)?;
    assert!(taken <= page.len(), "a page of {taken} bytes in {}", page.len());
    Ok(())
}
