//! All parts of a tensor in one.

use super::TensorInspection;
use crate::wcodec::predictor::Predictor;
use crate::wcodec::transform::Transform;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What is known of a tensor's parts together, as [`TensorInspection::summary`] gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorSummary {
    /// Codecs of its parts, the largest first: `direct+raw`; `copy` of a tensor that shares the bytes of another one.
    pub codec: String,
    /// Nothing but its own bytes: no codec made it smaller.
    pub raw: bool,
    /// Of its bytes in the file, those of parts that no codec made smaller.
    pub raw_bytes: usize,
    /// Tiles by the name of their predictor.
    pub predictors: BTreeMap<&'static str, u64>,
    /// Sub-blocks by the name of their transform.
    pub transforms: BTreeMap<&'static str, u64>,
    /// What classes of symbols follow from.
    pub contexts: Vec<&'static str>,
    /// Which two symbols are coded as one, where some are.
    pub pairs: Option<&'static str>,
    /// Whether rare symbols, or pairs, are said apart.
    pub escapes: bool,
}

impl TensorInspection {
    /// Its parts in one, for people.
    pub fn summary(&self) -> TensorSummary {
        let codec = self.codec();
        let mut all = TensorSummary { raw: codec == "raw", codec, ..TensorSummary::default() };
        for part in &self.parts {
            let predictors = part.predictors.iter().copied();
            add(&mut all.predictors, predictors.map(|(p, n)| (Predictor::name(p), n)));
            let transforms = part.transforms.iter().copied();
            add(&mut all.transforms, transforms.map(|(t, n)| (Transform::name(t), n)));
            for term in &part.terms {
                if !all.contexts.contains(term) {
                    all.contexts.push(term);
                }
            }
            all.pairs = all.pairs.or(part.pairs);
            all.escapes |= part.escapes;
            // The parts of a copy are those of another tensor.
            if part.codec == "raw" && self.copy_of.is_none() {
                all.raw_bytes += part.bytes;
            }
        }
        all
    }

    /// The codecs of its parts in a word.
    fn codec(&self) -> String {
        if self.copy_of.is_some() {
            return "copy".into();
        }
        let mut parts: Vec<_> = self.parts.iter().collect();
        parts.sort_by_key(|part| Reverse(part.bytes));
        let mut names: Vec<&str> = Vec::new();
        for part in parts {
            if !names.contains(&part.codec) {
                names.push(part.codec);
            }
        }
        names.join("+")
    }
}

fn add(to: &mut BTreeMap<&'static str, u64>, counts: impl Iterator<Item = (&'static str, u64)>) {
    for (name, n) in counts {
        *to.entry(name).or_insert(0) += n;
    }
}
