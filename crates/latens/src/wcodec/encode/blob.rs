//! Bytes that are no tensor's: names, numbers as text, lists of words. Most of it was there before, which tables do
//! not know; Pco does, of words whose places are multiples of their width.

use crate::error::Result;
use crate::pco::{self, DeltaSpec, ModeSpec};
use crate::wcodec::data::Data;
use crate::wcodec::encode::words::{SLOW, Words};
use crate::wcodec::view::{View, WordOrder};

/// Bytes of which views are weighed as words without differences and modes first, which takes a tenth of the time of
/// all that Pco tries; of fewer there is little to save.
const WEIGHED: std::ops::Range<usize> = 1 << 11..1 << 18;
/// Of more only the first ones count.
const MOST: usize = 1 << 13;
/// Of so many bytes of text one is no printable character of ASCII, at most.
const OTHERS: usize = 16;
/// Bytes of a word of text.
const OF_TEXT: u8 = 4;

/// The views of such bytes.
pub(crate) fn views_of_blob() -> Vec<View> {
    let words = |width| View::Words { width, order: WordOrder::Unsigned };
    vec![View::Raw, words(2), words(4), words(8)]
}

/// Whether bytes are text, as far as that is of use: headers of safetensors are.
pub(crate) fn is_text(bytes: Data<'_>, level: u32) -> bool {
    let Some(bytes) = bytes.held().filter(|b| WEIGHED.contains(&b.len()) && level < SLOW) else {
        return false;
    };
    let others = bytes.iter().filter(|byte| !(b' '..=b'~').contains(byte)).count();
    others * OTHERS <= bytes.len()
}

/// Leaves out the widths of words that are worse by a twentieth, and more, than the best one, as they are. Of text it is
/// known which is best.
pub(crate) fn likeliest(views: &mut Vec<View>, bytes: Data<'_>, level: u32) -> Result<()> {
    if !WEIGHED.contains(&bytes.len()) || level >= SLOW {
        return Ok(());
    }
    if is_text(bytes, level) {
        views.retain(|view| !matches!(view, View::Words { width, .. } if *width != OF_TEXT));
        return Ok(());
    }
    let (mut buffer, mut sizes) = (Vec::new(), Vec::with_capacity(views.len()));
    let bytes = bytes.get(0..bytes.len().min(MOST), &mut buffer)?;
    let config = pco::Config::default().level(level).checksum(false);
    let config = config.delta(DeltaSpec::None).mode(ModeSpec::Classic);
    for view in &*views {
        sizes.push(match *view {
            View::Words { width, order: WordOrder::Unsigned } => {
                let whole = bytes.len() / usize::from(width) * usize::from(width);
                let words = Words::unsigned(width, config.clone());
                Some(words.group(&bytes[..whole])?.len())
            }
            _ => None,
        });
    }
    let best = sizes.iter().flatten().min().copied().unwrap_or(0);
    let mut sizes = sizes.into_iter();
    views.retain(|_| sizes.next().flatten().is_none_or(|size| size <= best + best / 20));
    Ok(())
}
