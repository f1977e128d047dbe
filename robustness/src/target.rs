//! What is done with the bytes: one function a decoder, ours and peers'. Each is also a fuzz target.
//!
//! A target panics where a rule is broken: an error without its byte, a write behind what was
//! decoded, two ways to read that do not agree. What memory and time it took, see [`crate::measure`].

pub mod checkpoint;
pub mod delta;
pub mod interop;
pub mod pages;
pub mod pco;
pub mod peer;
pub mod tans;
pub mod tool;
pub mod wcodec;
pub mod wrapped;

use crate::ground::{self, Ground};

/// Output in bytes at which cases are cut off: what lies beyond is a bomb, and looked at elsewhere.
pub const MAX_OUTPUT: u64 = 1 << 20;

/// Output in bytes of those cases where their time is measured.
pub const LIFTED: usize = 8 << 20;

/// What a decoder said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// An error.
    Refused,
    /// The limit on output was passed.
    Limited,
    /// Values: their hash and bytes.
    Accepted {
        /// Of the output.
        digest: u64,
        /// Bytes of the output.
        bytes: usize,
    },
}

/// The verdict of an error of ours, which must say where.
pub fn refused(error: &latens::Error, len: usize) -> Verdict {
    use latens::ErrorKind::{InvalidArgument, Io};
    assert!(error.kind() != Io, "an I/O error from bytes in memory: {error}");
    assert!(error.at().is_none_or(|at| at <= len as u64), "a byte behind the input: {error}");
    if error.kind() == InvalidArgument {
        if error.is_limit() {
            return Verdict::Limited;
        }
    } else {
        assert!(error.at().is_some(), "an error without its byte: {error}");
    }
    Verdict::Refused
}

/// One row of the table.
#[derive(Clone, Copy)]
pub struct Target {
    /// What it is called on the command line, in `fuzz/`, and in the table.
    pub name: &'static str,
    /// What is damaged.
    pub grounds: fn() -> Vec<Ground>,
    /// What is done with it; panics where a rule is broken.
    pub body: fn(u8, &[u8]) -> Verdict,
    /// Of 1000 cases of a run these are of this target.
    pub share: usize,
    /// The bytes are a recipe, and not a file.
    pub recipe: bool,
    /// Every change of a bit must be found.
    pub sealed: bool,
    /// Memory and time are held to the bounds.
    pub bounded: bool,
    /// Decodes what passed the limit, as far as [`LIFTED`] bytes go, for the time it takes.
    pub lifted: Option<Lifted>,
}

/// Bytes of output; `None` where an error comes first.
pub type Lifted = fn(u8, &[u8]) -> Option<usize>;

fn plain(
    name: &'static str,
    grounds: fn() -> Vec<Ground>,
    body: fn(u8, &[u8]) -> Verdict,
    share: usize,
) -> Target {
    let (recipe, sealed, bounded, lifted) = (false, false, true, None);
    Target { name, grounds, body, share, recipe, sealed, bounded, lifted }
}

/// Ours, and those that compare ours with peers.
pub fn ours() -> Vec<Target> {
    use ground::{arrays, checkpoints, delta as d, pco as p};
    let sealed = |target| Target { sealed: true, ..target };
    let recipe = |target| Target { recipe: true, ..target };
    let unbounded = |target| Target { bounded: false, ..target };
    let lifted = |lifted: Lifted, target| Target { lifted: Some(lifted), ..target };
    vec![
        lifted(pco::lifted, plain("pco_standalone", p::plain, pco::body, 290)),
        lifted(pco::lifted, sealed(plain("pco_sealed", p::sealed, pco::body, 90))),
        plain("pco_wrapped", p::wrapped, wrapped::body, 100),
        recipe(plain("pco_tans", tans::recipes, tans::body, 50)),
        lifted(delta::numbers_lifted, plain("dbp", d::numbers, delta::numbers, 180)),
        lifted(delta::lengths_lifted, plain("dlba", d::lengths, delta::lengths, 50)),
        lifted(delta::prefixes_lifted, plain("dba", d::prefixes, delta::prefixes, 50)),
        sealed(plain("wcodec", checkpoints::containers, wcodec::body, 50)),
        recipe(plain("wcodec_parts", checkpoints::recipes, wcodec::parts, 40)),
        plain("safetensors", checkpoints::safetensors, checkpoint::safetensors, 30),
        plain("gguf", checkpoints::gguf, checkpoint::gguf, 20),
        plain("tool_npy", arrays::arrays, tool::npy, 12),
        sealed(plain("tool_pco", arrays::columns, tool::pco, 10)),
        sealed(plain("tool_pco_zip", arrays::archives, tool::pco_zip, 10)),
        plain("tool_parquet", arrays::parquet, tool::parquet, 3),
        plain("tool_safetensors", checkpoints::safetensors, tool::safetensors, 5),
        unbounded(plain("interop_pco", p::plain, interop::pco, 5)),
        unbounded(plain("interop_dbp", d::numbers, interop::dbp, 5)),
    ]
}

/// Peers, with the same damage.
pub fn peers() -> Vec<Target> {
    let peer = |name, grounds: fn() -> Vec<Ground>, body: fn(u8, &[u8]) -> Verdict, share| {
        let target = plain(name, grounds, body, share);
        Target { bounded: false, ..target }
    };
    use ground::{checkpoints, delta as d, pco as p};
    vec![
        peer("peer_pco", p::plain, peer::pco, 500),
        peer("peer_parquet_dbp", d::numbers, peer::dbp, 300),
        peer("peer_parquet_dlba", d::lengths, peer::lengths, 75),
        peer("peer_parquet_dba", d::prefixes, peer::prefixes, 75),
        peer("peer_safetensors", checkpoints::safetensors, peer::safetensors, 50),
    ]
}

/// The target of that name.
pub fn find(name: &str) -> Option<Target> {
    ours().into_iter().chain(peers()).find(|target| target.name == name)
}
