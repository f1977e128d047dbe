//! Files to be damaged, and random numbers to do it by.

use crate::wcodec::checkpoint::{Checkpoint, Quantization};
use crate::wcodec::config::{Coder, Config, Tools};
use crate::wcodec::predictor::Predictor;
use crate::wcodec::transform::Transform;
use crate::{Error, wcodec};

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % n.max(1)
    }

    /// Changes some bytes, or drops or doubles a few.
    pub(super) fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            if bytes.is_empty() {
                return;
            }
            let at = self.below(bytes.len());
            match self.below(6) {
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][self.below(5)],
                2 => bytes[at] = u8::try_from(self.below(256)).unwrap(),
                3 => drop(bytes.remove(at)),
                4 => bytes.insert(at, 0xff),
                _ => bytes[at] = bytes[at].wrapping_add(1),
            }
        }
    }
}

/// A small checkpoint with scales, nibbles and floats.
fn source(random: &mut Random) -> Vec<u8> {
    let mut data = Vec::new();
    let mut entries = Vec::new();
    for (name, dtype, shape, bytes) in [
        ("a.weight", "I8", "[48,64]", 48 * 64),
        ("a.weight_scale", "F32", "[48,4]", 48 * 16),
        ("b.weight_packed", "I32", "[32,16]", 32 * 64),
        ("c", "BF16", "[700]", 1400),
    ] {
        let start = data.len();
        data.extend((0..bytes).map(|i| u8::try_from(random.below(9 + i % 7) * 3).unwrap()));
        entries.push(format!(
            "\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":[{start},{}]}}",
            data.len()
        ));
    }
    let header = format!("{{{}}}", entries.join(","));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(&data);
    file
}

/// That checkpoint as a file, by each of the tools.
pub(super) fn files() -> Vec<Vec<u8>> {
    let source = source(&mut Random(3));
    let none = |_: &str| Err(Error::invalid("no shards"));
    let open = || {
        let source = Box::new(source.clone());
        Checkpoint::read("a.safetensors".to_owned(), source, Quantization::default(), &none)
    };
    let all = Tools { predictors: Predictor::OF_TILES.to_vec(), ..Tools::default() };
    let transformed = Tools { transforms: vec![Transform::Dct, Transform::Adst], ..all.clone() };
    let bitplane = Tools { coder: Coder::Bitplane, ..all.clone() };
    let both = Tools { coder: Coder::Bitplane, ..transformed.clone() };
    let tools = [None, Some(all), Some(transformed), Some(bitplane), Some(both)];
    let files = tools.into_iter().map(|tools| {
        let config = Config::default().tools(tools).group_symbols(700);
        wcodec::compress_checkpoint(&open().unwrap(), None, &config, Vec::new()).unwrap()
    });
    files.collect()
}
