//! WCodec checkpoints decoded on NVIDIA GPUs. **Not measured on a GPU yet**: what is tested is the same
//! functions compiled as C++ for the host, against the decoder in Rust.
//!
//! The library reads a file's records and checks them ([`latens::wcodec::device`]); a [`Batch`] makes
//! flat records of them; kernels (`kernels/wcodec_decode.cuh`) decode groups, one a warp, and put
//! tensors together. A tensor counts only if every one of its groups has its checksum and no fault was
//! found; otherwise the CPU decodes it, which also says what is wrong.
//!
//! ```no_run
//! use latens::{Limits, wcodec::Reader};
//! use latens_cuda::{Gpu, GpuReader};
//!
//! let file = std::fs::File::open("model.wcodec").map_err(latens::Error::from)?;
//! let reader = Reader::open(file, Limits::default())?;
//! let gpu = Gpu::open(0)?; // Error::GpuUnavailable where there is none
//! let reader = GpuReader::new(gpu, reader);
//! let tensors = reader.all()?; // in device memory
//! # drop(tensors);
//! # Ok::<(), latens_cuda::Error>(())
//! ```
//!
//! Nothing of CUDA is needed to build, and nothing is loaded before [`Gpu::open`].

#![deny(unsafe_code)]

mod batch;
mod crc;
#[expect(unsafe_code, reason = "whoever takes a tensor holds its memory")]
mod dlpack;
mod error;
#[expect(unsafe_code, reason = "the boundary to the driver")]
mod gpu;
mod join;
#[expect(unsafe_code, reason = "the boundary to the driver")]
mod launch;
mod reader;
mod record;
mod stage;

pub use batch::{Batch, Decoded, Fetch, Output, Upload};
pub use error::{Error, Result};
pub use gpu::Gpu;
pub use reader::{DeviceTensor, GpuReader};
pub use record::{BLOCK_FIELDS, GROUP_FIELDS, JOIN_BLOCK_FIELDS, JOIN_FIELDS, PART_FIELDS};

/// The kernels as PTX, for devices of compute capability 7.5 and higher, from NVRTC 12.9.
pub const PTX: &str = include_str!("../kernels/wcodec_decode.ptx");
