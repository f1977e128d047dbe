//! How modes, delta encodings and preferences are spelled.

use super::{DeltaSpec, Favor, ModeSpec};
use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// A spelling that is none of the known ones.
fn unknown(kind: &str, text: &str, known: &str) -> Error {
    Error::invalid(format!("`{text}` is no {kind}; known are {known}"))
}

impl FromStr for ModeSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, value) = text.split_once('@').map_or((text, None), |(n, v)| (n, Some(v)));
        let spec = match (name, value) {
            ("auto", None) => Some(ModeSpec::Auto),
            ("classic", None) => Some(ModeSpec::Classic),
            ("dict", None) => Some(ModeSpec::Dict),
            ("int-mult", Some(v)) => v.parse().ok().map(ModeSpec::IntMult),
            ("trend", Some(v)) => v.parse().ok().map(ModeSpec::Trend),
            ("float-mult", Some(v)) => v.parse().ok().map(ModeSpec::FloatMult),
            ("float-quant", Some(v)) => v.parse().ok().map(ModeSpec::FloatQuant),
            _ => None,
        };
        spec.ok_or_else(|| {
            unknown(
                "mode",
                text,
                "auto, classic, int-mult@BASE, trend@CELL, float-mult@BASE, float-quant@BITS, dict",
            )
        })
    }
}

impl fmt::Display for ModeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModeSpec::Auto => f.write_str("auto"),
            ModeSpec::Classic => f.write_str("classic"),
            ModeSpec::IntMult(base) => write!(f, "int-mult@{base}"),
            ModeSpec::Trend(cell) => write!(f, "trend@{cell}"),
            ModeSpec::FloatMult(base) => write!(f, "float-mult@{base:?}"),
            ModeSpec::FloatQuant(q) => write!(f, "float-quant@{q}"),
            ModeSpec::Dict => f.write_str("dict"),
        }
    }
}

impl FromStr for DeltaSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (head, secondary) =
            text.strip_suffix("+secondary").map_or((text, false), |h| (h, true));
        let (name, value) = head.split_once('@').map_or((head, None), |(n, v)| (n, Some(v)));
        let spec = match (name, value) {
            ("auto", None) if !secondary => Some(DeltaSpec::Auto),
            ("none", None) if !secondary => Some(DeltaSpec::None),
            ("consecutive", Some(v)) => {
                v.parse().ok().map(|order| DeltaSpec::Consecutive { order, secondary })
            }
            ("lookback", None) => {
                Some(DeltaSpec::Lookback { window_log: None, state_log: 0, secondary })
            }
            ("lookback", Some(v)) => v.parse().ok().map(|w| DeltaSpec::Lookback {
                window_log: Some(w),
                state_log: 0,
                secondary,
            }),
            ("conv1", Some(v)) if !secondary => {
                v.parse().ok().map(|order| DeltaSpec::Conv1 { order })
            }
            _ => None,
        };
        spec.ok_or_else(|| {
            unknown("delta encoding", text, "auto, none, consecutive@1…7, lookback, conv1@1…32")
        })
    }
}

impl fmt::Display for DeltaSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let both = |secondary: bool| if secondary { "+secondary" } else { "" };
        match *self {
            DeltaSpec::Auto => f.write_str("auto"),
            DeltaSpec::None => f.write_str("none"),
            DeltaSpec::Consecutive { order, secondary } => {
                write!(f, "consecutive@{order}{}", both(secondary))
            }
            DeltaSpec::Lookback { window_log: None, secondary, .. } => {
                write!(f, "lookback{}", both(secondary))
            }
            DeltaSpec::Lookback { window_log: Some(w), secondary, .. } => {
                write!(f, "lookback@{w}{}", both(secondary))
            }
            DeltaSpec::Conv1 { order } => write!(f, "conv1@{order}"),
        }
    }
}

impl FromStr for Favor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "speed" => Ok(Favor::Speed),
            "balanced" => Ok(Favor::Balanced),
            "size" => Ok(Favor::Size),
            _ => Err(unknown("preference", text, "speed, balanced, size")),
        }
    }
}

impl fmt::Display for Favor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Favor::Speed => "speed",
            Favor::Balanced => "balanced",
            Favor::Size => "size",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_come_back() {
        let modes = [
            "auto",
            "classic",
            "int-mult@7",
            "trend@3600",
            "float-mult@0.01",
            "float-quant@29",
            "dict",
        ];
        for text in modes {
            assert_eq!(text.parse::<ModeSpec>().unwrap().to_string(), text);
        }
        let deltas = [
            "auto",
            "none",
            "consecutive@2",
            "consecutive@1+secondary",
            "lookback",
            "lookback@9",
            "conv1@8",
        ];
        for text in deltas {
            assert_eq!(text.parse::<DeltaSpec>().unwrap().to_string(), text);
        }
        for text in ["int-mult", "trend", "dict@3", "consecutive", "none+secondary", "conv1@x", ""]
        {
            assert!(text.parse::<ModeSpec>().is_err() && text.parse::<DeltaSpec>().is_err());
        }
    }
}
