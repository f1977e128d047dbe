//! Writing `.wcodec` files.

use crate::errors::{invalid, lift};
use crate::job::{Job, run};
use crate::wcodec::{reopen, size_of};
use latens::wcodec::checkpoint::{Checkpoint, Quantization};
use latens::wcodec::predictor::Predictor;
use latens::wcodec::tile::TileSize;
use latens::wcodec::view::PackingChoice;
use latens::wcodec::{Base, BaseFile, Config, Tools, compress_checkpoint_to_file, open_base};
use latens::{Error, Limits, Result, Watch};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a file is made.
struct Order {
    out: PathBuf,
    base: Option<PathBuf>,
    config: Config,
    threads: usize,
    verify: bool,
}

/// Rows and columns of tiles, names of predictors and of transforms, that of the coder, whether there are classes.
pub(crate) type Named = ((u64, u64), Vec<String>, Vec<String>, String, bool);

/// Level, what is forced, patterns of names with kinds of packings, least symbols of a group (0: as the encoder has it).
pub(crate) type Chosen = (u32, Option<Named>, Vec<(String, String)>, usize);

/// The settings that are chosen, for a file with a base or without.
pub(crate) fn config(py: Python<'_>, chosen: Chosen, has_base: bool) -> PyResult<Config> {
    let (level, named, packings, group_symbols) = chosen;
    let tools = tools(py, named)?;
    // The library leaves it out; whoever names it here wants it, as with the tool.
    if !has_base && tools.as_ref().is_some_and(|t| t.predictors.contains(&Predictor::Reference)) {
        let what =
            "REFERENCE predicts weights by those of another checkpoint; give that one as base";
        return Err(invalid(py, what));
    }
    let mut config = Config::default().level(level).tools(tools);
    config = config.group_symbols(group_symbols);
    for (pattern, kind) in packings {
        config = config.packing(pattern, lift(py, kind.parse::<PackingChoice>())?);
    }
    Ok(config)
}

/// What is forced, by its names.
fn tools(py: Python<'_>, named: Option<Named>) -> PyResult<Option<Tools>> {
    let Some(((rows, cols), predictors, transforms, coder, contexts)) = named else {
        return Ok(None);
    };
    let made = || -> Result<Tools> {
        Ok(Tools {
            tile: TileSize::new(rows, cols)?,
            predictors: predictors.iter().map(|name| name.parse()).collect::<Result<_>>()?,
            transforms: transforms.iter().map(|name| name.parse()).collect::<Result<_>>()?,
            coder: coder.parse()?,
            contexts,
        })
    };
    lift(py, made().map(Some))
}

impl Order {
    /// Writes the file, reads it back and compares.
    fn carry_out(&self, checkpoint: &Checkpoint, job: &Arc<Job>) -> Result<()> {
        let watch = job.watch();
        let config = self.config.clone().threads(self.threads).watch(watch.clone());
        config.validate()?;
        // What is read of the base is none of the checkpoint's bytes.
        let asked = Arc::clone(job);
        let asked = Watch::new(move |_| asked.tick(0));
        let held: Option<Box<dyn Base>> = self
            .base
            .as_deref()
            .map(|path| open_base(path, Limits::default(), &asked))
            .transpose()?;
        let name = self.base.as_deref().and_then(Path::file_name);
        let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let against = held.as_ref().map(|base| BaseFile { base: &**base, name: &name });
        let out = io::BufWriter::new(File::create(&self.out)?);
        let mut out = compress_checkpoint_to_file(checkpoint, against, &config, out)?;
        out.flush()?;
        out.get_ref().sync_all()?;
        if self.verify {
            let mut reader = reopen(&self.out, self.threads)?;
            if let Some(base) = held {
                reader = reader.with_base(base)?;
            }
            reader.watched(&watch).compare(checkpoint)?;
        }
        Ok(())
    }
}

/// A checkpoint on disk to a `.wcodec` at `out`. Bytes of both.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each of Python's")]
pub(crate) fn wcodec_compress(
    py: Python<'_>,
    source: PathBuf,
    out: PathBuf,
    base: Option<PathBuf>,
    chosen: Chosen,
    threads: usize,
    verify: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(u64, u64)> {
    let config = config(py, chosen, base.is_some())?;
    let order = Order { out, base, config, threads, verify };
    let total = run(py, progress, 0, |job| {
        let checkpoint = Checkpoint::open(&source)?;
        let total = checkpoint.files.iter().map(|file| file.len).fold(0, u64::saturating_add);
        job.expect(total.saturating_mul(1 + u64::from(verify)));
        order.carry_out(&checkpoint, job)?;
        Ok(total)
    })?;
    Ok((total, size_of(py, &order.out)?))
}

/// The parts of a safetensors file, joined, to a `.wcodec` at `out`. Bytes of both.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each of Python's")]
pub(crate) fn wcodec_compress_bytes<'py>(
    py: Python<'py>,
    name: String,
    parts: Vec<PyReadonlyArray1<'py, u8>>,
    out: PathBuf,
    base: Option<PathBuf>,
    chosen: Chosen,
    threads: usize,
    verify: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(u64, u64)> {
    let config = config(py, chosen, base.is_some())?;
    let order = Order { out, base, config, threads, verify };
    let parts = parts.iter().map(|part| part.as_slice());
    let parts = parts.collect::<std::result::Result<Vec<&[u8]>, _>>()?;
    let total: usize = parts.iter().map(|part| part.len()).sum();
    run(py, progress, (total as u64) << u32::from(verify), |job| {
        let source = Box::new(parts.concat());
        let none = |_: &str| Err(Error::invalid("no shards"));
        let checkpoint = Checkpoint::read(name, source, Quantization::default(), &none)?;
        order.carry_out(&checkpoint, job)
    })?;
    Ok((total as u64, size_of(py, &order.out)?))
}
