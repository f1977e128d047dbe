//! The extension module `latens._latens`: what the Python package `latens` calls.
//!
//! Nothing is encoded or decoded here. Arrays are borrowed from NumPy, the library runs with the
//! GIL released, and vectors that it makes become arrays without a copy. There is no unsafe code
//! but what PyO3's macros write.
//!
//! | module | what |
//! |---|---|
//! | `array` | NumPy arrays as slices of one of eleven types |
//! | `errors` | errors of the library as exceptions of the package |
//! | `job` | calls without the GIL: progress, Ctrl-C |
//! | `pco`, `wrapped`, `inspect` | Pco |
//! | `dbp` | DELTA_BINARY_PACKED |
//! | `wcodec`, `checkpoint` | WCodec: reading, writing |
//! | `gpu` | WCodec: reading on a GPU |

mod array;
mod checkpoint;
mod dbp;
mod errors;
mod gpu;
mod inspect;
mod job;
mod layers;
mod pco;
mod wcodec;
mod wrapped;

use pyo3::prelude::*;

/// The compiled part of the package `latens`; its other modules are what to use.
#[pymodule]
mod _latens {
    #[pymodule_export]
    use super::checkpoint::{wcodec_compress, wcodec_compress_bytes};
    #[pymodule_export]
    use super::dbp::{dbp_decode, dbp_decode_into, dbp_encode};
    #[pymodule_export]
    use super::gpu::{DeviceBytes, GpuFile};
    #[pymodule_export]
    use super::inspect::pco_inspect;
    #[pymodule_export]
    use super::layers::WcodecWriter;
    #[pymodule_export]
    use super::pco::{PcoConfig, pco_compress, pco_decompress, pco_decompress_into};
    #[pymodule_export]
    use super::wcodec::WcodecReader;
    #[pymodule_export]
    use super::wrapped::{ChunkDecoder, ChunkEncoder, FileDecoder, FileEncoder};
}
