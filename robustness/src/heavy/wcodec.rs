//! Containers of tensors that are all the same, of every view and tool.

use super::{Heavy, MOST};
use crate::wcodec_common::{open, safetensors};
use latens::wcodec::predictor::Predictor;
use latens::wcodec::tile::TileSize;
use latens::wcodec::transform::Transform;
use latens::wcodec::{Coder, Config, Reader, Tools, compress_checkpoint};
use latens::{Error, Limits};

/// Bytes of a tensor, where all inputs are wanted.
const TENSOR: u64 = 4 << 20;
/// The same, where less will do.
const SMALL_TENSOR: u64 = 1 << 20;

/// All tensors, then the file.
fn decode(_: u8, file: &[u8], limits: Limits) -> Result<usize, Error> {
    let reader = Reader::open(file.to_vec(), limits)?.threads(1);
    let numbers: Vec<usize> = reader.tensors().map(|(number, _)| number).collect();
    let mut bytes = 0;
    for number in numbers {
        bytes += reader.tensor(number)?.len();
    }
    let mut sink = Count(0);
    reader.write_file(0, &mut sink)?;
    Ok(bytes + sink.0)
}

struct Count(usize);

impl std::io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn tools(predictors: &[Predictor], transforms: &[Transform], coder: Coder) -> Config {
    Config::default().tools(Some(Tools {
        tile: TileSize::SQUARE,
        predictors: predictors.to_vec(),
        transforms: transforms.to_vec(),
        coder,
        contexts: true,
    }))
}

/// One of each kind; smaller ones where `thin` leaves out others.
pub fn all(thin: usize) -> Vec<Heavy> {
    let dct = [Transform::Dct, Transform::Adst];
    let mut kinds: Vec<(String, &str, u64, Config)> = Vec::new();
    for (dtype, width) in [("I8", 1), ("U8", 1), ("BF16", 2), ("F16", 2), ("F32", 4), ("I64", 8)] {
        kinds.push((dtype.to_owned(), dtype, width, Config::default().level(1)));
    }
    for coder in [Coder::Direct, Coder::Bitplane] {
        kinds.push((format!("I8 {coder:?}"), "I8", 1, tools(&[Predictor::None], &[], coder)));
        for predictor in Predictor::ALL {
            let config = tools(&[predictor], &[], coder);
            kinds.push((format!("I8 {coder:?} {predictor:?}"), "I8", 1, config));
        }
        let config = tools(&[Predictor::Dc], &dct, coder);
        kinds.push((format!("I8 {coder:?} transforms"), "I8", 1, config));
    }
    let bytes = if thin == 1 { TENSOR } else { SMALL_TENSOR };
    let one = |(name, dtype, width, config)| one(name, dtype, width, bytes, &config);
    kinds.into_iter().map(one).collect()
}

fn one(name: String, dtype: &str, width: u64, mut bytes: u64, config: &Config) -> Heavy {
    loop {
        let shape = [bytes / 1024 / width, 1024];
        let file = safetensors(&[("w.weight", dtype, &shape, vec![3; bytes as usize])]);
        let config = config.clone().threads(2);
        let made = compress_checkpoint(&open(file), None, &config, Vec::new()).unwrap();
        if made.len() <= MOST {
            return Heavy { decoder: "wcodec", name, selector: 0, bytes: made, decode };
        }
        bytes /= 2;
    }
}
