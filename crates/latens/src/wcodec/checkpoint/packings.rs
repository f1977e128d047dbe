//! Packings that whoever compresses says tensors have, in place of those that are detected.
//!
//! The view of such a tensor must tell readers, whatever its names do: a packing names its columns, and plain numbers
//! of what names take for packed ones are symbols of eight bits, or words in another order than is usual.

use super::{Checkpoint, TensorInfo, detect, quoted};
use crate::error::{Error, Result};
use crate::wcodec::dtype::Dtype;
use crate::wcodec::view::{Axis, BitOrder, Packing, PackingChoice, Sign, View, WordOrder};

/// Patterns of names, and what the tensors of each are.
pub(in crate::wcodec) type Packings = [(String, PackingChoice)];

impl Checkpoint {
    /// The same with tensors packed as is said, the last pattern of a name counts; `None` where nothing changes.
    /// `matched` is told of patterns that match.
    pub(in crate::wcodec) fn packed_as(
        &self,
        packings: &Packings,
        matched: &mut Vec<bool>,
    ) -> Result<Option<Self>> {
        matched.resize(packings.len(), false);
        let mut settled = Vec::new();
        for (number, t) in self.tensors.iter().enumerate() {
            let mut last = None;
            for ((pattern, choice), matched) in packings.iter().zip(matched.iter_mut()) {
                if matches(pattern, &t.name) {
                    (*matched, last) = (true, Some(*choice));
                }
            }
            if let Some(choice) = last
                && let Some(view) = view(choice, t).map_err(|e| e.within(quoted(&t.name)))?
            {
                settled.push((number, view));
            }
        }
        if settled.is_empty() {
            return Ok(None);
        }
        let mut tensors = self.tensors.clone();
        for (number, view) in settled {
            if let Some(t) = tensors.get_mut(number) {
                (t.view, t.is_settled) = (view, true);
            }
        }
        Ok(Some(Self {
            tensors,
            format: self.format,
            files: self.files.clone(),
            unnamed: self.unnamed,
            mismatches: self.mismatches.clone(),
            quantization: self.quantization.clone(),
            within: self.within.clone(),
            sources: self.sources.clone(),
        }))
    }
}

/// An error where a pattern matched nothing.
pub(in crate::wcodec) fn all_matched(packings: &Packings, matched: &[bool]) -> Result<()> {
    let without = packings.iter().enumerate().find(|(i, _)| matched.get(*i) != Some(&true));
    match without {
        Some((_, (pattern, _))) => Err(Error::invalid(format!(
            "a packing is for {pattern:?}, and no tensor has such a name"
        ))),
        None => Ok(()),
    }
}

/// The view that stands for a choice; `None` where the tensor is that already.
fn view(choice: PackingChoice, t: &TensorInfo) -> Result<Option<View>> {
    let view = match choice {
        PackingChoice::As(packing) => named(packing, t),
        PackingChoice::None if !matches!(t.view, View::Packed(_)) => return Ok(None),
        // The only one that there is.
        PackingChoice::None if t.view == detect::plain(t.dtype) => return Ok(None),
        PackingChoice::None => plain(t),
    };
    view.map(Some).ok_or_else(|| {
        let fits = |choice: &PackingChoice| match *choice {
            PackingChoice::None => true,
            PackingChoice::As(packing) => named(packing, t).is_some(),
        };
        let fitting = PackingChoice::named().filter(fits).map(|c| c.to_string());
        let fitting = fitting.collect::<Vec<_>>().join(", ");
        let (dtype, shape) = (t.type_name(), &t.shape);
        Error::invalid(format!("{choice} does not fit {dtype} {shape:?}; what does: {fitting}"))
    })
}

/// The view of a packing with its columns, where it fits.
fn named(packing: Packing, t: &TensorInfo) -> Option<View> {
    use Dtype::{I8, I16, I32, I64, U8, U16, U32, U64};
    let integers = matches!(t.dtype, I8 | U8 | I16 | U16 | I32 | U32 | I64 | U64);
    (integers && packing.axis == Axis::Columns).then_some(())?;
    let layout = View::Packed(packing).layout(t.dtype, &t.shape, t.len)?;
    let cols = u32::try_from(layout.cols).ok()?;
    let view = View::Packed(Packing { cols, ..packing });
    view.layout(t.dtype, &t.shape, t.len).is_some().then_some(view)
}

/// Numbers of a tensor's own type, in a view that is no encoder's own choice.
fn plain(t: &TensorInfo) -> Option<View> {
    let view = match (t.dtype, t.dtype.width()?) {
        (dtype, 1) => {
            let sign = if dtype == Dtype::I8 { Sign::Signed } else { Sign::Unsigned };
            View::Packed(Packing { bits: 8, ..Packing::nibbles(BitOrder::LowFirst, sign) })
        }
        (dtype, width) => {
            let usual = View::Words { width, order: WordOrder::Signed };
            let is_usual = detect::plain(dtype) == usual;
            View::Words {
                width,
                order: if is_usual { WordOrder::Unsigned } else { WordOrder::Signed },
            }
        }
    };
    view.layout(t.dtype, &t.shape, t.len).is_some().then_some(view)
}

/// Whether a name is of a pattern, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, want) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("*", "a.b", true),
            ("a*", "a", true),
            ("*.weight", "l.0.weight", true),
            ("*.weight", "l.0.weights", false),
            ("l.*.q.*", "l.3.q.w", true),
            ("l.*.q.*", "l.q.w", false),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*ab*ab*", "xabab", true),
            ("*ab*ab*", "xab", false),
            ("**", "x", true),
            ("ä*", "äö", true),
        ] {
            assert_eq!(matches(pattern, name), want, "{pattern} {name}");
        }
    }

    /// Whatever is said, readers must not take it for what any tensor of the type may be stored as.
    #[test]
    fn views_tell() {
        for &dtype in Dtype::ALL {
            let Some(width) = dtype.width() else { continue };
            let len = 64 * u64::from(width);
            let mut t = TensorInfo {
                name: "t".to_owned(),
                dtype,
                unknown: None,
                shape: vec![8, 8],
                file: 0,
                offset: 0,
                len,
                view: View::Packed(Packing::nibbles(BitOrder::HighFirst, Sign::Unsigned)),
                is_settled: false,
                siblings: super::super::Siblings::default(),
            };
            for choice in PackingChoice::named() {
                let Ok(Some(view)) = view(choice, &t) else { continue };
                assert!(!detect::tells_nothing(dtype, view), "{dtype:?} {choice} {view:?}");
            }
            assert!(matches!(view(PackingChoice::None, &t), Ok(Some(_))), "{dtype:?}");
            t.view = detect::plain(dtype);
            assert!(matches!(view(PackingChoice::None, &t), Ok(None)), "{dtype:?}");
        }
    }
}
