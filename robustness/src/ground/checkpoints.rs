//! Checkpoints and WCodec containers.

use super::Ground;
use crate::random::{Random, noise};
use crate::wcodec_common::mend::Parts;
use crate::wcodec_common::samples;
use std::sync::OnceLock;

/// Containers of every feature, small enough to flip all bits of.
pub fn containers() -> Vec<Ground> {
    samples::tiny().into_iter().map(|(name, file)| Ground::new(name, 0, file)).collect()
}

/// The same and larger ones, taken apart; made once.
pub(crate) fn parts() -> &'static [(String, Parts)] {
    static PARTS: OnceLock<Vec<(String, Parts)>> = OnceLock::new();
    PARTS.get_or_init(|| {
        let all = samples::small().into_iter();
        all.map(|(name, file)| (name, Parts::of(&file))).collect()
    })
}

/// Recipes: eight bytes each for one change of the parts of container number `selector`.
pub fn recipes() -> Vec<Ground> {
    let mut random = Random(17);
    let of_each = parts().iter().enumerate();
    of_each
        .map(|(i, (name, _))| {
            let n = 8 * (1 + random.below(2));
            Ground::new(name.clone(), i as u8, noise(&mut random, n))
        })
        .collect()
}

fn sources(wanted: impl Fn(&str) -> bool) -> Vec<Ground> {
    let single = samples::all(1).into_iter().filter(|sample| sample.files.len() == 1);
    let files = single.flat_map(|sample| {
        let name = sample.name;
        sample.files.into_iter().map(move |(file, bytes)| (name, file, bytes))
    });
    let grounds = files.filter(|(_, file, _)| wanted(file));
    grounds.map(|(name, _, bytes)| Ground::new(name, 0, bytes)).collect()
}

/// safetensors files.
pub fn safetensors() -> Vec<Ground> {
    sources(|file| file.ends_with(".safetensors"))
}

/// GGUF files.
pub fn gguf() -> Vec<Ground> {
    sources(|file| file.ends_with(".gguf"))
}
