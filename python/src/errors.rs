//! Errors of the library as exceptions of `latens.errors`.

use latens::ErrorKind;
use latens::wcodec::OF_BASE;
use pyo3::prelude::*;
use std::error::Error as _;
use std::io;

/// The exception for an error: its class says the kind, its attributes where.
pub(crate) fn exception(py: Python<'_>, error: &latens::Error) -> PyErr {
    let class = match error.kind() {
        ErrorKind::Corrupt => "CorruptError",
        ErrorKind::Truncated => "TruncatedError",
        ErrorKind::Io => "InputOutputError",
        ErrorKind::InvalidArgument if error.is_limit() => "LimitError",
        _ => "InvalidArgumentError",
    };
    let make = || {
        let class = py.import("latens.errors")?.getattr(class)?;
        let exception = class.call1((error.to_string(),))?;
        exception.setattr("offset", error.at())?;
        exception.setattr("values_before", error.values_before())?;
        exception.setattr("places", error.places().to_vec())?;
        if let Some(code) = system_code(error) {
            let said = error.to_string().replace(&format!(" (os error {code})"), "");
            exception.setattr("errno", code)?;
            exception.setattr("strerror", said.trim_start_matches("I/O: "))?;
            // Else whoever knows which file is read says that it is of that.
            if let Some(base) = error.places().iter().find_map(|place| place.strip_prefix(OF_BASE))
            {
                exception.setattr("filename", base)?;
            }
        }
        Ok(exception)
    };
    make().map_or_else(|e: PyErr| e, PyErr::from_value)
}

/// The system's number of what went wrong.
fn system_code(error: &latens::Error) -> Option<i32> {
    error.source()?.downcast_ref::<io::Error>()?.raw_os_error()
}

/// A result of the library as one of Python.
pub(crate) fn lift<T>(py: Python<'_>, result: latens::Result<T>) -> PyResult<T> {
    result.map_err(|e| exception(py, &e))
}

/// A request that cannot be met.
pub(crate) fn invalid(py: Python<'_>, what: impl Into<String>) -> PyErr {
    exception(py, &latens::Error::invalid(what.into()))
}
