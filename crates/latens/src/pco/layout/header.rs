//! The wrapped header: the format version.
//!
//! | bits | field | |
//! |---|---|---|
//! | 8 | major | 0 to 4; above: refused |
//! | 8 | minor | only where major ≥ 4; newer ones are tried |

use crate::bits::reader::BitReader;
use crate::error::{Error, Result};

/// A version of the wrapped format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FormatVersion {
    /// 0 to 4.
    pub major: u8,
    /// 0 where `major < 4`.
    pub minor: u8,
}

impl FormatVersion {
    /// The version that this library writes.
    pub const WRITTEN: FormatVersion = FormatVersion { major: 4, minor: 1 };

    /// Reads one or two bytes.
    pub(crate) fn read(r: &mut BitReader<'_>) -> Result<Self> {
        let at = r.byte();
        let major = r.read_u8("the format version")?;
        if major > Self::WRITTEN.major {
            return Err(Error::corrupt(
                at,
                format!(
                    "format version {major} is newer than {}, the newest known",
                    Self::WRITTEN.major
                ),
            ));
        }
        let minor = if major >= 4 { r.read_u8("the minor format version")? } else { 0 };
        Ok(Self { major, minor })
    }

    /// The bytes of [`FormatVersion::WRITTEN`].
    pub(crate) fn written_bytes() -> [u8; 2] {
        [Self::WRITTEN.major, Self::WRITTEN.minor]
    }

    /// Before version 3 a chunk says just the order of consecutive deltas, in 3 bits.
    pub(crate) fn has_delta_variants(self) -> bool {
        self.major >= 3
    }

    /// Version 0 had a GCD mode where IntMult is now.
    pub(crate) fn has_int_mult(self) -> bool {
        self.major >= 1
    }
}

impl std::fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.major)?;
        if self.major >= 4 { write!(f, ".{}", self.minor) } else { Ok(()) }
    }
}
