//! What is inside of a checkpoint, tensor by tensor, as `--json` shows it.

use latens::ErrorKind;
use latens::wcodec::checkpoint::ReadAt;
use latens::wcodec::{OF_BASE, Reader, TensorEntry, TensorInspection};
use serde::Serialize;
use std::collections::BTreeMap;

use super::Wrong;
use super::damage::{self, Fault};
use super::watch::Watched;
use crate::job::Input;
use crate::message::{Failure, Result};
use crate::parallel;
use crate::render::units::counted;
use crate::table::reading::named;

/// A `.wcodec` file.
#[derive(Clone, Debug, Serialize)]
pub struct CheckpointInspection {
    /// `wcodec`
    pub kind: &'static str,
    /// SHA-256 over names, types, shapes and bytes.
    pub model_hash: String,
    /// The checkpoint that it was made against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Of the file.
    pub bytes: u64,
    /// Of the files that it holds.
    pub flat_bytes: u64,
    /// Names and sizes of the files that it holds.
    pub files: Vec<(String, u64)>,
    /// What is wrong with header, index and footer, where that was to be no error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damage: Vec<Wrong>,
    /// In the order of the checkpoint.
    pub tensors: Vec<Tensor>,
}

/// A tensor of a [`CheckpointInspection`].
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// As the checkpoint spells it.
    pub dtype: String,
    /// As the checkpoint has it.
    pub shape: Vec<u64>,
    /// What is wrong with it, where it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
    /// Whether it cannot be read without the base that was not given.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needs_base: bool,
    /// How its weights are packed, the type of numbers that are not; null, as all that the index does not tell, where it
    /// cannot be read.
    pub packing: Option<String>,
    /// Codecs of its parts, the largest first.
    pub codec: Option<String>,
    /// In the file.
    pub bytes: u64,
    /// In the checkpoint.
    pub flat_bytes: u64,
    /// Weights that it holds.
    pub weights: Option<u64>,
    /// Rows as `extract --rows` counts them, of weights where these are packed; of a vector one.
    pub rows: Option<u64>,
    /// Weights in each; bytes of what has no numbers here.
    pub cols: Option<u64>,
    /// In the file.
    pub bits_per_weight: Option<f64>,
    /// Of symbols one by one, without any context; those of numbers by their bytes.
    pub order0_entropy: Option<f64>,
    /// Tiles by predictor.
    pub predictors: BTreeMap<&'static str, u64>,
    /// Sub-blocks by transform.
    pub transforms: BTreeMap<&'static str, u64>,
    /// What classes of symbols follow from.
    pub contexts: Vec<&'static str>,
    /// Which two symbols are coded as one, where some are.
    pub pairs: Option<&'static str>,
    /// Whether rare symbols, or pairs, are said apart, without a slot in a table.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub escapes: bool,
    /// Nothing but its own bytes: no codec made it smaller.
    pub raw: Option<bool>,
    /// Of `bytes`, those of parts that no codec made smaller.
    pub raw_bytes: Option<u64>,
}

/// What a look into a tensor gave.
enum Seen {
    Whole(TensorInspection),
    Damaged(String),
    NeedsBase,
}

/// All tensors of a file, decoded for their entropy.
///
/// # Errors
/// Bad input, I/O.
pub fn tensors<S: ReadAt>(reader: &Reader<S>, quiet: bool) -> Result<Vec<TensorInspection>> {
    let numbers: Vec<usize> = reader.tensors().map(|(number, _)| number).collect();
    let watched = Watched::tensors("inspect", reader, quiet);
    parallel::map(numbers.len(), &|index| Ok(watched.reader.inspect(numbers[index])?))
}

/// Look into a file, of which some tensors may be damaged. Without its base (`with_base` is false) others may not be read
/// either.
///
/// # Errors
/// I/O.
pub fn read<S: ReadAt>(
    reader: &Reader<S>,
    bytes: u64,
    with_base: bool,
    quiet: bool,
) -> Result<CheckpointInspection> {
    let files: Vec<(String, u64)> = reader.files().map(|(name, len)| (name.into(), len)).collect();
    let hash = reader.model_hash();
    let lacks_base = reader.base_name().is_some() && !with_base;
    let numbers: Vec<usize> = reader.tensors().map(|(number, _)| number).collect();
    let watched = Watched::tensors("inspect", reader, quiet);
    let seen = parallel::map(numbers.len(), &|index| {
        Ok(match watched.reader.inspect(numbers[index]) {
            Ok(found) => Seen::Whole(found),
            Err(e) if damage::is_damage(&e) => Seen::Damaged(Fault::of(&e, None).words()),
            Err(e) if lacks_base && e.kind() == ErrorKind::InvalidArgument && !e.is_limit() => {
                Seen::NeedsBase
            }
            Err(e) => return Err(e.into()),
        })
    });
    drop(watched);
    let tensors = numbers.iter().zip(seen?).filter_map(|(&number, seen)| match seen {
        Seen::Whole(found) => Some(tensor(&found)),
        Seen::Damaged(what) => {
            Some(Tensor { damaged: Some(what), ..Tensor::of_index(reader.entry(number)?) })
        }
        Seen::NeedsBase => {
            Some(Tensor { needs_base: true, ..Tensor::of_index(reader.entry(number)?) })
        }
    });
    Ok(CheckpointInspection {
        kind: "wcodec",
        model_hash: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        base: reader.base_name().map(|(name, _)| name.to_string()),
        bytes,
        flat_bytes: match files.is_empty() {
            false => files.iter().map(|(_, len)| len).sum(),
            // As of a damaged index that has lost what it says of them.
            true => reader.tensors().map(|(_, tensor)| tensor.length as u64).sum(),
        },
        files,
        damage: Vec::new(),
        tensors: tensors.collect(),
    })
}

impl CheckpointInspection {
    /// What is said in the end where tensors are damaged.
    ///
    /// # Errors
    /// That some are.
    pub fn sound(&self, input: &Input) -> Result<()> {
        let damaged = self.tensors.iter().filter_map(|t| Some((&t.name, t.damaged.as_ref()?)));
        let (count, first) = damaged.fold((0u64, None), |(n, first), t| (n + 1, first.or(Some(t))));
        let Some((name, first)) = first else { return Ok(()) };
        let all = self.tensors.len() as u64;
        let what = match count {
            1 => format!("1 of {} is damaged: {first}", counted(all, "tensor")),
            _ => format!("{count} of {} are damaged, the first: {first}", counted(all, "tensor")),
        };
        let advice = damage::advice(first.starts_with(OF_BASE), input);
        let failure = Failure::new(what).within(format!("tensor {name:?}"));
        Err(named(failure.hint(advice), input))
    }
}

fn tensor(t: &TensorInspection) -> Tensor {
    let all = t.summary();
    Tensor {
        name: t.name.clone(),
        dtype: t.dtype.clone(),
        shape: t.shape.clone(),
        damaged: None,
        needs_base: false,
        packing: Some(t.packing.clone()),
        codec: Some(all.codec),
        bytes: t.bytes as u64,
        flat_bytes: t.flat_bytes as u64,
        weights: Some(t.weights),
        rows: Some(t.rows),
        cols: Some(t.cols),
        bits_per_weight: Some(t.bits_per_weight()),
        order0_entropy: Some(t.order0_entropy),
        predictors: all.predictors,
        transforms: all.transforms,
        contexts: all.contexts,
        pairs: all.pairs,
        escapes: all.escapes,
        raw: Some(all.raw),
        raw_bytes: Some(all.raw_bytes as u64),
    }
}

impl Tensor {
    /// What the index alone tells.
    fn of_index(entry: TensorEntry<'_>) -> Self {
        Tensor {
            dtype: entry.dtype.to_string(),
            bytes: entry.stored as u64,
            flat_bytes: entry.length as u64,
            name: entry.name,
            shape: entry.shape,
            ..Tensor::default()
        }
    }

    /// Why it cannot be read, where it cannot.
    pub fn unread(&self) -> Option<String> {
        match &self.damaged {
            Some(what) => Some(format!("damaged: {what}")),
            None => self.needs_base.then(|| "needs its base, --base FILE".to_string()),
        }
    }
}
