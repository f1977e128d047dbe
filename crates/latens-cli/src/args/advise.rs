//! What `latens advise` takes.

use clap::{Args, ValueHint};
use latens::NumberType;
use std::path::PathBuf;

use super::columns::Columns;
use super::shared::{Common, number_type};
use crate::format::Format;

/// `latens advise`
#[derive(Debug, Args)]
#[command(after_help = "\
Sizes are measured: every column is encoded in every way. Of tables of more than 2^26 rows
2^24 rows are, and sizes are estimated from these.

Example:
  latens advise flights.parquet          a table, and what to tell pyarrow")]
pub struct Advise {
    /// A table: parquet, csv, pco.zip, or an array; `-` for stdin
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath)]
    pub table: PathBuf,
    /// Its format, where the extension does not say
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub from: Option<Format>,
    /// Type of bare numbers, or of those of a .dbp
    #[arg(long = "type", value_name = "T", value_parser = number_type)]
    pub number_type: Option<NumberType>,
    /// Only these columns; names as in CSV: `a,"b,c"`
    #[arg(long, value_name = "A,B,…")]
    pub columns: Vec<Columns>,
    #[command(flatten)]
    pub common: Common,
}
