//! `--columns`: names with commas between them, as in a line of CSV. A name that holds a comma, or begins
//! with a quote, stands in quotes; quotes within these are doubled. The option may be given again.

/// Names of columns, with commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(Vec<String>);

impl std::str::FromStr for Columns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut names, mut rest) = (Vec::new(), text);
        loop {
            let name;
            (name, rest) = match rest.strip_prefix('"') {
                Some(quoted) => unquoted(quoted).ok_or("a quote is not closed")?,
                None => {
                    let (name, _) = rest.split_once(',').unwrap_or((rest, ""));
                    (name.to_string(), rest.get(name.len()..).unwrap_or_default())
                }
            };
            names.push(name);
            rest = match rest.strip_prefix(',') {
                Some(rest) => rest,
                None if rest.is_empty() => return Ok(Columns(names)),
                None => return Err(format!("a comma is missing before {rest:?}")),
            };
        }
    }
}

/// What stands before the quote that closes a name, and what follows it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let (mut name, mut rest) = (String::new(), text);
    loop {
        let (before, after) = rest.split_once('"')?;
        name.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return Some((name, after)),
        }
    }
}

/// The names of all `--columns`, where there are any.
pub fn column_names(given: &[Columns]) -> Option<Vec<String>> {
    (!given.is_empty()).then(|| given.iter().flat_map(|names| &names.0).cloned().collect())
}

/// A name of a column as [`Columns`] reads it.
pub fn quoted_name(name: &str) -> String {
    let plain = !name.contains([',', '"']) && name.trim() == name && !name.is_empty();
    if plain { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_are_read_as_csv() {
        for (text, names) in [
            ("a", &["a"][..]),
            ("a,b c,", &["a", "b c", ""]),
            (r#""a,b",c"#, &["a,b", "c"]),
            (r#"x,"a ""b"", c""#, &["x", r#"a "b", c"#]),
            (r#"5" disk"#, &[r#"5" disk"#]),
            ("", &[""]),
        ] {
            let read: Columns = text.parse().unwrap();
            assert_eq!(read.0, names, "{text}");
            let again: Vec<String> = names.iter().map(|name| quoted_name(name)).collect();
            assert_eq!(again.join(",").parse::<Columns>().unwrap(), read, "{text}");
        }
        assert!(r#""a"#.parse::<Columns>().is_err() && r#""a"b"#.parse::<Columns>().is_err());
    }
}
