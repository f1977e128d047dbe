//! What is inside of a Pco file, or of a tensor of a checkpoint, as a dictionary with the names that `latens inspect
//! --json` uses.

use crate::array::Octets;
use crate::job::run;
use crate::pco::{limits, with_spare_slots};
use latens::pco::standalone::Checksum;
use latens::pco::{self, BinInspection, ChunkInspection, LatentInspection};
use latens::wcodec::{PartInspection, TensorInspection};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

#[pyfunction]
pub(crate) fn pco_inspect<'py>(
    py: Python<'py>,
    file: Octets<'py>,
    max_output: Option<u64>,
    max_alloc: Option<u64>,
    max_spare_slots: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let bytes = file.as_slice()?;
    let limits = with_spare_slots(limits(max_output, max_alloc), max_spare_slots);
    let found = run(py, None, 0, |job| pco::inspect_with(bytes, limits, &job.watch()))?;
    let dict = PyDict::new(py);
    dict.set_item("kind", "pco")?;
    dict.set_item("standalone_version", found.standalone_version)?;
    dict.set_item("format_version", found.format_version.to_string())?;
    dict.set_item("type", found.number_type.map(|ty| ty.to_string()))?;
    dict.set_item("n", found.n)?;
    dict.set_item("checksum", found.ending.checksum == Checksum::Verified)?;
    dict.set_item("bytes", found.ending.consumed)?;
    dict.set_item("trailing", found.ending.trailing)?;
    let chunks = found.chunks.iter().map(|c| chunk(py, c)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("chunks", PyList::new(py, chunks)?)?;
    Ok(dict)
}

fn chunk<'py>(py: Python<'py>, found: &ChunkInspection) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("n", found.info.n)?;
    dict.set_item("bytes", found.bytes)?;
    dict.set_item("offset", found.offset)?;
    dict.set_item("mode", found.info.mode.to_string())?;
    dict.set_item("delta", found.info.delta.to_string())?;
    let latents = found.latents.iter().map(|l| latent(py, l)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("latents", PyList::new(py, latents)?)?;
    Ok(dict)
}

fn latent<'py>(py: Python<'py>, found: &LatentInspection) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", found.name)?;
    dict.set_item("bits_per_value", found.bits_per_value)?;
    dict.set_item("body_bits", found.body_bits)?;
    dict.set_item("table_size", 1u64 << found.table_log.min(63))?;
    let bin = |bin: &BinInspection| {
        let dict = PyDict::new(py);
        dict.set_item("lower", bin.lower)?;
        dict.set_item("offset_bits", bin.offset_bits)?;
        dict.set_item("weight", bin.weight)?;
        Ok(dict)
    };
    let bins = found.bins.iter().map(bin).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("bins", PyList::new(py, bins)?)?;
    Ok(dict)
}

/// A tensor of a `.wcodec`, part by part.
pub(crate) fn tensor<'py>(
    py: Python<'py>,
    found: &TensorInspection,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &found.name)?;
    dict.set_item("dtype", &found.dtype)?;
    dict.set_item("shape", &found.shape)?;
    dict.set_item("packing", &found.packing)?;
    dict.set_item("bytes", found.bytes)?;
    dict.set_item("flat_bytes", found.flat_bytes)?;
    dict.set_item("weights", found.weights)?;
    dict.set_item("rows", found.rows)?;
    dict.set_item("cols", found.cols)?;
    dict.set_item("bits_per_weight", found.bits_per_weight())?;
    dict.set_item("order0_entropy", found.order0_entropy)?;
    let all = found.summary();
    dict.set_item("codec", all.codec)?;
    dict.set_item("raw", all.raw)?;
    dict.set_item("raw_bytes", all.raw_bytes)?;
    dict.set_item("predictors", all.predictors)?;
    dict.set_item("transforms", all.transforms)?;
    dict.set_item("contexts", all.contexts)?;
    dict.set_item("pairs", all.pairs)?;
    dict.set_item("escapes", all.escapes)?;
    let parts = found.parts.iter().map(|p| part(py, p)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("parts", PyList::new(py, parts)?)?;
    Ok(dict)
}

fn part<'py>(py: Python<'py>, found: &PartInspection) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("role", format!("{:?}", found.role))?;
    dict.set_item("codec", found.codec)?;
    dict.set_item("elements", found.elements)?;
    dict.set_item("bytes", found.bytes)?;
    dict.set_item("groups", found.groups)?;
    dict.set_item("classes", found.classes)?;
    dict.set_item("contexts", &found.terms)?;
    dict.set_item("pairs", found.pairs)?;
    dict.set_item("escapes", found.escapes)?;
    let (predictors, transforms) = (PyDict::new(py), PyDict::new(py));
    for (predictor, tiles) in &found.predictors {
        predictors.set_item(predictor.name(), tiles)?;
    }
    for (transform, blocks) in &found.transforms {
        transforms.set_item(transform.name(), blocks)?;
    }
    dict.set_item("predictors", predictors)?;
    dict.set_item("transforms", transforms)?;
    Ok(dict)
}
