//! Files to be damaged, and random numbers to do it by.

use crate::wcodec::config::{Coder, Config, Tools};
use crate::wcodec::predictor::Predictor;
use crate::wcodec::transform::Transform;
use crate::wcodec::view::BlockKind;
use crate::wcodec::{self, made};

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
    let tensors = [
        ("a.weight", "I8", "[48,64]", 48 * 64),
        ("a.weight_scale", "F32", "[48,4]", 48 * 16),
        ("b.weight_packed", "I32", "[32,16]", 32 * 64),
        ("c", "BF16", "[700]", 1400),
        ("plain", "U8", "[1203]", 1203),
    ];
    made::safetensors(&tensors, |name, _, i| match name {
        "plain" => random.below(256),
        _ => random.below(9 + i % 7) * 3,
    })
}

/// That checkpoint as a file, by each of the tools.
pub(super) fn files() -> Vec<Vec<u8>> {
    let mut random = Random(3);
    let source = source(&mut random);
    let open = || made::checkpoint(source.clone());
    let all = Tools { predictors: Predictor::OF_TILES.to_vec(), ..Tools::default() };
    let transformed = Tools { transforms: vec![Transform::Dct, Transform::Adst], ..all.clone() };
    let bitplane = Tools { coder: Coder::Bitplane, ..all.clone() };
    let both = Tools { coder: Coder::Bitplane, ..transformed.clone() };
    let tools = [None, Some(all), Some(transformed), Some(bitplane), Some(both)];
    let files = tools.into_iter().map(|tools| {
        let config = Config::default().tools(tools).group_symbols(700);
        wcodec::compress_checkpoint(&open(), None, &config, Vec::new()).unwrap()
    });
    let blocks = made::gguf(&[(BlockKind::Q4_K, [512, 9]), (BlockKind::Q8_0, [64, 40])], |_| {
        u8::try_from(random.below(9) * 23).unwrap()
    });
    let config = Config::default().group_symbols(700);
    let blocks = wcodec::compress_checkpoint(&made::checkpoint(blocks), None, &config, Vec::new());
    let others = [blocks.unwrap(), ordered(&mut random), stacked(&mut random)];
    files.chain(others).chain([woven(&mut random), shards(&mut random)]).collect()
}

/// Columns of nibbles that differ by so much that pairs have an order of their own.
fn ordered(random: &mut Random) -> Vec<u8> {
    const COLS: usize = 64;
    let tensors = [("a.weight_packed", "I32", "[512,8]", 256 * COLS)];
    let source = made::safetensors(&tensors, |_, _, i| {
        let mut nibble = |col: usize| {
            let most = 1 + 2 * (col % 4);
            8 + random.below(most + 1) - random.below(most + 1)
        };
        let col = 2 * i % COLS;
        nibble(col) + 16 * nibble(col + 1)
    });
    let config = Config::default().group_symbols(7000);
    wcodec::compress_checkpoint(&made::checkpoint(source), None, &config, Vec::new()).unwrap()
}

/// Columns of nibbles whose means differ, by thirds too, so that neighbours are not alike and pairs are of two rows.
fn stacked(random: &mut Random) -> Vec<u8> {
    const COLS: usize = 64;
    let tensors = [("a.weight_packed", "I32", "[513,8]", 513 * COLS / 2)];
    let source = made::safetensors(&tensors, |_, _, i| {
        let mut nibble = |col: usize| col * 5 % 11 + (random.below(600) + 100 * (col % 3)) / 300;
        let col = 2 * i % COLS;
        nibble(col) + 16 * nibble(col + 1)
    });
    let config = Config::default().group_symbols(7000);
    wcodec::compress_checkpoint(&made::checkpoint(source), None, &config, Vec::new()).unwrap()
}

/// Tensors of long names, which the header takes from the index.
fn woven(random: &mut Random) -> Vec<u8> {
    let mut name = |_| (0..60).map(|_| char::from(b"abcdefgh"[random.below(8)])).collect();
    let names: Vec<String> = (0..7).map(&mut name).collect();
    let tensors = names.into_iter().map(|name| (&*name.leak(), "U8", "[2000]", 2000));
    let source = made::safetensors(&tensors.collect::<Vec<_>>(), |_, _, _| random.below(256));
    let config = Config::default();
    wcodec::compress_checkpoint(&made::checkpoint(source), None, &config, Vec::new()).unwrap()
}

/// Shards of a tensor each, whose headers are parts of one text, and whose index names them.
fn shards(random: &mut Random) -> Vec<u8> {
    let names: Vec<String> = (0..12).map(|i| format!("layers.{i}.weight")).collect();
    let shard = |(i, name): (usize, &String)| {
        let source =
            made::safetensors(&[(&*name.clone().leak(), "U8", "[2000]", 2000)], |_, _, _| {
                random.below(256)
            });
        (format!("model-{i:03}-of-012.safetensors"), source)
    };
    let shards: Vec<_> = names.iter().enumerate().map(shard).collect();
    let both = names.iter().zip(&shards).map(|(tensor, (shard, _))| (&**tensor, &**shard));
    let checkpoint = made::sharded(&made::index_of_shards(both), &shards);
    wcodec::compress_checkpoint(&checkpoint, None, &Config::default(), Vec::new()).unwrap()
}
