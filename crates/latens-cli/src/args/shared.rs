//! What several verbs take.

use clap::{Args, ValueHint};
use latens::NumberType;
use std::path::PathBuf;

use super::columns::Columns;
use crate::format::Format;

/// What every verb that works on data takes.
#[derive(Debug, Args)]
pub struct Common {
    /// Threads; 0, as if not given, for all cores. The output does not depend on it
    #[arg(short = 'T', long, value_name = "N", allow_negative_numbers = true,
          value_parser = threads)]
    pub threads: Option<usize>,
    /// No words but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print one JSON object on stdout in place of words
    #[arg(long)]
    pub json: bool,
}

impl Common {
    /// Threads as they are asked for, 0 for all cores.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or(0)
    }
}

/// Input, output, and their formats.
#[derive(Debug, Args)]
pub struct Files {
    /// What to read; `-` for stdin
    #[arg(value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub input: PathBuf,
    /// What to write; `-` for stdout. Its extension picks the format
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Format of the input, where its extension does not say
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub from: Option<Format>,
    /// Format of the output, where its extension does not say
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub to: Option<Format>,
    /// Replace an existing output
    #[arg(short, long)]
    pub force: bool,
    /// Only these columns of a table; `a.b` is field b of structure a; names as in CSV: `a,"b,c"`
    #[arg(long, value_name = "A,B,…")]
    pub columns: Vec<Columns>,
}

/// A setting of the library, by the name that it has there.
pub fn parse<T: std::str::FromStr<Err = latens::Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|e: latens::Error| e.what().to_string())
}

/// A type of numbers by its name.
pub fn number_type(name: &str) -> Result<NumberType, String> {
    NumberType::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = NumberType::ALL.iter().map(|ty| ty.name()).collect();
        format!("the types are {}", names.join(" "))
    })
}

/// A count; one beyond all that there could be is the largest.
pub fn count(text: &str) -> Result<u64, String> {
    match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Ok(text.parse().unwrap_or(u64::MAX)),
        false => Err("this takes a whole number".to_owned()),
    }
}

fn threads(text: &str) -> Result<usize, String> {
    count(text).map(|n| usize::try_from(n).unwrap_or(usize::MAX))
}

/// A whole number from `least` to `most`.
pub fn within(text: &str, least: u32, most: u32) -> Result<u32, String> {
    let n = count(text).ok().and_then(|n| u32::try_from(n).ok());
    let n = n.filter(|n| (least..=most).contains(n));
    n.ok_or_else(|| format!("this takes a whole number from {least} to {most}"))
}
