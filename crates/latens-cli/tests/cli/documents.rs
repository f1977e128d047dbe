//! What documents show is what the tool prints.

use std::path::Path;

use crate::tool::Folder;

#[test]
fn the_table_of_the_readme_is_a_real_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let flights = root.join("testdata/real/nycflights_2013q1.parquet");
    let f = Folder::new();
    let done = f.run(&["compress", flights.to_str().unwrap(), "-o", "flights.pco.zip"]).ok();
    let printed = table(&done.err);
    assert_eq!(printed.len(), 21);
    assert_eq!(table(&readme), printed, "README.md shows an old table");
}

/// The lines from `column` to `total`.
fn table(text: &str) -> Vec<&str> {
    let rows = text.lines().skip_while(|line| !line.starts_with("column  "));
    let rows: Vec<&str> = rows.collect();
    let total = rows.iter().position(|line| line.starts_with("total ")).unwrap();
    rows[..=total].to_vec()
}
