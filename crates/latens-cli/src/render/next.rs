//! The last line of `compress`: commands for what was written, as a shell takes them.

use std::path::Path;

use super::grid::width;
use crate::format::Format;
use crate::job::{CompressJob, Output};
use crate::report::CompressReport;

/// One thing to look at and, where there is room for it, one to do. Nothing where it would fail: of
/// CSV, of what is no file.
pub fn next(report: &CompressReport, job: &CompressJob, columns: usize) -> Option<String> {
    let Output::File(path) = &job.output else { return None };
    if job.to == Format::Csv {
        return None;
    }
    let out = file(path, job.to)?;
    let array = Format::beside(path, Format::Npy.name());
    let number_type = report.columns.first().map_or("", |column| column.logical_type.as_str());
    let back = match job.to {
        Format::Pco | Format::Dbp if array.exists() => format!("latens verify {out}"),
        Format::Pco => format!("latens decompress {out}"),
        Format::Dbp => format!("latens decompress {out} --type {number_type}"),
        // One column comes as bytes, which no terminal shows.
        _ if report.columns.len() == 1 => format!("latens verify {out}"),
        _ => format!("latens decompress {out} -o - | head"),
    };
    Some(line(&out, &back, columns))
}

/// The same for a checkpoint, which lies beside what it was made from: that is not written again.
pub fn of_checkpoint(output: &Output, base: Option<&Path>, columns: usize) -> Option<String> {
    let Output::File(path) = output else { return None };
    let out = file(path, Format::Wcodec)?;
    let base = match base {
        Some(base) => format!(" --base {}", quoted(base)?),
        None => String::new(),
    };
    let out = format!("{out}{base}");
    Some(line(&out, &format!("latens verify {out}"), columns))
}

/// A file as an argument, with its format where the name does not tell.
fn file(path: &Path, format: Format) -> Option<String> {
    let name = quoted(path).filter(|_| path.is_file())?;
    let known = Format::of_path(path) == Some(format);
    Some(if known { name } else { format!("{name} --from {format}") })
}

fn line(out: &str, back: &str, columns: usize) -> String {
    let look = format!("next: latens inspect {out}");
    let both = format!("{look}  ·  {back}");
    if width(&both) <= columns { both } else { look }
}

/// A path as a shell takes it; `None` where it would take more than quotes.
pub fn quoted(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control))?;
    let plain = |c: char| c.is_alphanumeric() || "_@%+=:,./-".contains(c);
    // What begins with a dash would be taken for an option.
    let text = if text.starts_with('-') { format!("./{text}") } else { text.to_string() };
    Some(match text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_a_shell_needs_it() {
        let quoted = |name: &str| quoted(Path::new(name));
        assert_eq!(quoted("d/a-b_1.pco").unwrap(), "d/a-b_1.pco");
        assert_eq!(quoted("größe.pco").unwrap(), "größe.pco");
        assert_eq!(quoted("a b.pco").unwrap(), "'a b.pco'");
        assert_eq!(quoted("it's $1.pco").unwrap(), r"'it'\''s $1.pco'");
        assert_eq!(quoted("-x.pco").unwrap(), "./-x.pco");
        assert_eq!(quoted("a\nb.pco"), None);
    }
}
