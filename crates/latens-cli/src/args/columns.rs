//! `--columns`: names with commas between them, as in a line of CSV. A name that holds a comma, or begins
//! with a quote, stands in quotes; quotes within these are doubled. The option may be given again.

/// Names of columns, with commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(Vec<String>);

impl std::str::FromStr for Columns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut lines = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let mut lines = lines.records();
        let names = lines.next().transpose().map_err(|e| e.to_string())?.unwrap_or_default();
        if lines.next().is_some() {
            return Err("a name with a line break stands in quotes".to_owned());
        }
        let names: Vec<String> = names.iter().map(str::to_owned).collect();
        // The reader passes over a line of nothing.
        Ok(Columns(if names.is_empty() { vec![String::new()] } else { names }))
    }
}

/// The names of all `--columns`, where there are any.
pub fn column_names(given: &[Columns]) -> Option<Vec<String>> {
    (!given.is_empty()).then(|| given.iter().flat_map(|names| &names.0).cloned().collect())
}

/// A name of a column as [`Columns`] reads it.
pub fn quoted_name(name: &str) -> String {
    let plain = !name.contains([',', '"', '\n', '\r']) && name.trim() == name && !name.is_empty();
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
        assert!("a\nb".parse::<Columns>().is_err());
        assert_eq!("\"a\nb\"".parse::<Columns>().unwrap().0, ["a\nb"]);
    }
}
