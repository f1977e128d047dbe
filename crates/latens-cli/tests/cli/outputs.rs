//! An output is whole or not there; what exists is kept.

use crate::checkpoints::{model, safetensors, weights};
use crate::tool::{Folder, column, numbers, system};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn there_and_back() {
    let f = Folder::new();
    f.write("a.npy", &column(5000));
    let done = f.run(&["compress", "a.npy"]).ok();
    assert!(done.out.is_empty());
    assert!(done.err.contains("verified: bit-identical"), "{}", done.err);
    assert!(done.err.contains("latens inspect a.pco"), "{}", done.err);
    assert!(done.err.lines().count() <= 24);
    f.run(&["decompress", "a.pco", "-o", "b.npy"]).ok();
    assert_eq!(f.read("b.npy"), f.read("a.npy"));
    assert_eq!(f.names(), ["a.npy", "a.pco", "b.npy"]);
}

#[test]
fn existing_outputs_are_kept_unless_forced() {
    let f = Folder::new();
    f.write("a.npy", &column(50));
    f.write("a.pco", b"precious");
    f.run(&["compress", "a.npy"]).fails(&["exists already", "in a.pco", "-f"]);
    assert_eq!(f.read("a.pco"), b"precious");
    f.run(&["compress", "a.npy", "-f"]).ok();
    f.run(&["decompress", "a.pco"]).fails(&["exists already", "in a.npy"]);
    f.run(&["decompress", "a.pco", "-f"]).ok();
    assert_eq!(f.read("a.npy"), column(50));
    assert_eq!(f.names(), ["a.npy", "a.pco"]);
}

#[test]
fn input_and_output_are_never_the_same_file() {
    let f = Folder::new();
    f.write("a.pco", &column(50));
    symlink(f.path("a.pco"), f.path("link.pco")).unwrap();
    fs::hard_link(f.path("a.pco"), f.path("hard.pco")).unwrap();
    for out in ["a.pco", "./a.pco", "link.pco", "hard.pco"] {
        f.run(&["compress", "a.pco", "--from", "npy", "-o", out, "-f"]).fails(&["same file"]);
    }
    let stdin = fs::File::open(f.path("a.pco")).unwrap();
    let mut command = f.latens(&["compress", "-", "--from", "npy", "-o", "a.pco", "-f"]);
    assert_eq!(command.stdin(stdin).status().unwrap().code(), Some(1));
    let stdout = fs::File::options().append(true).open(f.path("a.pco")).unwrap();
    let mut command = f.latens(&["compress", "a.pco", "--from", "npy", "-o", "-"]);
    assert_eq!(command.stdout(stdout).status().unwrap().code(), Some(1));
    assert_eq!(f.read("a.pco"), column(50));
}

#[test]
fn a_link_stays_and_what_it_names_is_replaced() {
    let f = Folder::new();
    f.write("a.npy", &column(50));
    fs::create_dir(f.path("real")).unwrap();
    symlink("real/target.pco", f.path("link.pco")).unwrap();
    // It names nothing yet: nothing is lost.
    f.run(&["compress", "a.npy", "-o", "link.pco"]).ok();
    assert!(fs::symlink_metadata(f.path("link.pco")).unwrap().is_symlink());
    assert!(fs::metadata(f.path("real/target.pco")).unwrap().is_file());
    f.run(&["compress", "a.npy", "-o", "link.pco"]).fails(&["exists already"]);
    f.run(&["compress", "a.npy", "-o", "link.pco", "-f"]).ok();
    assert!(fs::symlink_metadata(f.path("link.pco")).unwrap().is_symlink());
    assert_eq!(fs::read_dir(f.path("real")).unwrap().count(), 1);
}

#[test]
fn permissions_are_those_of_the_umask_or_of_the_file_replaced() {
    let f = Folder::new();
    f.write("a.npy", &column(50));
    let mode = |name: &str| fs::metadata(f.path(name)).unwrap().permissions().mode() & 0o777;
    let tool = env!("CARGO_BIN_EXE_latens");
    let script = format!("umask 027; '{tool}' compress -q a.npy");
    system("sh", &["-c", &script], &f.path(""));
    assert_eq!(mode("a.pco"), 0o640);
    fs::set_permissions(f.path("a.pco"), fs::Permissions::from_mode(0o604)).unwrap();
    f.run(&["compress", "a.npy", "-f"]).ok();
    assert_eq!(mode("a.pco"), 0o604);
    // What nobody else may read stays so, and the umask is the most there is.
    fs::set_permissions(f.path("a.npy"), fs::Permissions::from_mode(0o600)).unwrap();
    f.run(&["compress", "a.npy", "-o", "b.pco"]).ok();
    f.run(&["decompress", "b.pco"]).ok();
    assert_eq!((mode("b.pco"), mode("b.npy")), (0o600, 0o600));
    fs::set_permissions(f.path("a.npy"), fs::Permissions::from_mode(0o777)).unwrap();
    let script = format!("umask 027; '{tool}' compress -q a.npy -o c.pco");
    system("sh", &["-c", &script], &f.path(""));
    assert_eq!(mode("c.pco"), 0o640);
}

#[test]
fn names_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let f = Folder::new();
    let name = |bytes: &[u8]| f.path("").join(std::ffi::OsStr::from_bytes(bytes));
    fs::write(name(b"bad\xff.npy"), column(20)).unwrap();
    let mut command = f.latens(&["compress"]);
    let done = command.arg(std::ffi::OsStr::from_bytes(b"bad\xff.npy")).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.success() && name(b"bad\xff.pco").is_file(), "{said}");
    assert!(said.contains("bad\\xff.npy → bad\\xff.pco") && !said.contains("next:"), "{said}");
    // What goes beside a checkpoint keeps the name's bytes too.
    let flat = crate::checkpoints::safetensors(&[("w", "I8", &[64], vec![7; 64])]);
    fs::write(name(b"m.safetensors"), &flat).unwrap();
    f.run(&["compress", "m.safetensors"]).ok();
    fs::rename(name(b"m.wcodec"), name(b"m\xff.wcodec")).unwrap();
    let mut command = f.latens(&["decompress", "--json"]);
    let done = command.arg(std::ffi::OsStr::from_bytes(b"m\xff.wcodec")).output().unwrap();
    assert!(done.status.success() && fs::read(name(b"m\xff.safetensors")).unwrap() == flat);
    let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(report["output"], "m\\xff.safetensors");
}

/// The commands behind `next:`, one a line of it.
fn hints(said: &str) -> Vec<String> {
    let line = said.lines().find_map(|line| line.strip_prefix("next: ")).unwrap_or_default();
    line.split("  ·  ").filter(|hint| !hint.is_empty()).map(str::to_string).collect()
}

#[test]
fn every_command_that_is_hinted_at_works() {
    let f = Folder::new();
    f.write("a.npy", &column(50));
    f.write("an array.npy", &column(50));
    f.write("t.csv", b"a,b\n1,x\n,y\n");
    let tool = env!("CARGO_BIN_EXE_latens");
    for args in [
        &["a.npy"][..],
        &["a.npy", "-o", "b.pco"],
        &["a.npy", "-o", "noext"],
        &["an array.npy"],
        &["an array.npy", "-o", "a copy.pco"],
        &["a.npy", "-o", "c.dbp"],
        &["a.npy", "-o", "d.pco.zip"],
        &["a.npy", "-o", "d.parquet"],
        &["t.csv"],
        &["t.csv", "-o", "t.parquet"],
        &["t.csv", "-o", "other", "--to", "parquet"],
    ] {
        let done = f.run(&[&["compress"], args].concat()).ok();
        let hints = hints(&done.err);
        assert!(!hints.is_empty(), "{}", done.err);
        for hint in hints {
            let hint = hint.replacen("latens", &format!("'{tool}'"), 1);
            let script = format!("set -o pipefail; {hint} > /dev/null");
            system("bash", &["-c", &script], &f.path(""));
        }
    }
}

#[test]
fn hints_for_checkpoints_work_too() {
    let f = Folder::new();
    f.write("m.safetensors", &model(5));
    f.write("b.safetensors", &model(6));
    let a = safetensors(&[("a", "I8", &[16, 16], weights(256, 3))]);
    f.write("m-1.safetensors", &a);
    f.write("x.safetensors.index.json", br#"{"weight_map": {"a": "m-1.safetensors"}}"#);
    for args in [
        &["m.safetensors"][..],
        &["m.safetensors", "-o", "a model", "--base", "b.safetensors"],
        &["x.safetensors.index.json"],
    ] {
        let done = f.run(&[&["compress"], args].concat()).ok();
        assert!(!hints(&done.err).is_empty(), "{}", done.err);
        for hint in hints(&done.err) {
            let tool = format!("'{}'", env!("CARGO_BIN_EXE_latens"));
            let script = format!("{} > /dev/null", hint.replacen("latens", &tool, 1));
            system("bash", &["-c", &script], &f.path(""));
        }
    }
}

#[test]
fn of_csv_no_more_is_said_than_holds() {
    let f = Folder::new();
    f.write("a.npy", &column(50));
    let done = f.run(&["compress", "a.npy", "-o", "a.csv"]).ok();
    assert!(done.err.contains("verified: the same values"), "{}", done.err);
    assert!(!done.err.contains("bit-identical") && !done.err.contains("next:"), "{}", done.err);
    assert!(done.err.contains("empty text") && done.err.contains("NaN"), "{}", done.err);
    assert!(!done.err.contains(" 0 B") && !done.err.contains("0.00"), "{}", done.err);
    let done = f.run(&["compress", "a.npy", "-o", "/dev/null"]).ok();
    assert!(hints(&done.err).is_empty(), "{}", done.err);
}

#[test]
fn stdin_and_stdout() {
    let f = Folder::new();
    let packed = f.run_with(&["compress", "-", "--from", "npy"], &column(3000)).ok();
    let to_stdout = f.run_with(&["compress", "-", "--from", "npy", "-o", "-"], &column(3000)).ok();
    assert_eq!(packed.out, to_stdout.out);
    let raw = f.run_with(&["decompress", "-", "--from", "pco"], &packed.out).ok();
    assert_eq!(raw.out, numbers(3000));
    let args = ["decompress", "-", "--from", "pco", "--to", "npy", "-o", "-"];
    assert_eq!(f.run_with(&args, &packed.out).ok().out, column(3000));
    assert_eq!(f.names(), [""; 0]);
}

#[test]
fn fifos_and_devices_are_written_directly() {
    let f = Folder::new();
    f.write("a.npy", &column(300));
    f.run(&["compress", "a.npy", "-o", "/dev/null"]).ok();
    // A pipe each: a process that another test is starting holds our ends of earlier ones until its
    // exec, and would be taken for the partner.
    let pipe = |name: &str| {
        system("mkfifo", &[name], &f.path(""));
        f.path(name)
    };
    let path = pipe("out.pco");
    let reader = std::thread::spawn(move || fs::read(path).unwrap());
    f.run(&["compress", "a.npy", "-o", "out.pco"]).ok();
    f.write("b.pco", &reader.join().unwrap());
    let path = pipe("out.npy");
    let reader = std::thread::spawn(move || fs::read(path).unwrap());
    f.run(&["decompress", "b.pco", "--to", "npy", "-o", "out.npy"]).ok();
    assert_eq!(reader.join().unwrap(), column(300));
    // And read from.
    let path = pipe("in.npy");
    let writer = std::thread::spawn(move || fs::write(path, column(300)).unwrap());
    f.run(&["compress", "in.npy", "--from", "npy", "-o", "c.pco"]).ok();
    writer.join().unwrap();
    assert_eq!(f.read("c.pco"), f.read("b.pco"));
    assert_eq!(f.names(), ["a.npy", "b.pco", "c.pco", "in.npy", "out.npy", "out.pco"]);
}

#[test]
fn outputs_that_cannot_be() {
    let f = Folder::new();
    f.write("a.npy", &column(300));
    fs::create_dir(f.path("folder.pco")).unwrap();
    f.run(&["compress", "a.npy", "-o", "folder.pco", "-f"]).fails(&["is a folder"]);
    f.run(&["compress", "a.npy", "-o", "no/such.pco"]).fails(&["no folder no"]);
    f.run(&["compress", "none.npy"]).fails(&["No such file", "in none.npy"]);
    f.run(&["compress", "folder.pco"]).fails(&["folder"]);
    f.run(&["compress", "a.npy", "-o", "/dev/full"]).fails(&["No space left", "in /dev/full"]);
    for args in [&["--help"][..], &["man"], &["compress", "a.npy", "-o", "-"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let done = f.latens(args).stdout(full).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(1), "{args:?}");
        assert!(
            said.starts_with("latens: No space left on device\n  in standard output\n"),
            "{said}"
        );
    }
    // What has to be read back on its way to standard output waits in a folder that TMPDIR names.
    let mut command = f.latens(&["compress", "a.npy", "-o", "-"]);
    let done = command.env("TMPDIR", f.path("none")).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.code() == Some(1) && done.stdout.is_empty(), "{said}");
    assert!(said.contains("/none\n  TMPDIR names another folder"), "{said}");
    let mut command = f.latens(&["verify", "-", "--from", "wcodec"]);
    let done = command.env("TMPDIR", f.path("none")).output().unwrap();
    let (line, said) = [done.stdout, done.stderr].map(|s| String::from_utf8(s).unwrap()).into();
    assert!(line.starts_with("-: FAILED, No such file") && line.ends_with("/none\n"), "{line}");
    assert!(done.status.code() == Some(1) && said.contains("TMPDIR names another"), "{said}");
    assert_eq!(f.names(), ["a.npy", "folder.pco"]);
}

#[test]
fn names_that_are_too_long() {
    let f = Folder::new();
    let long = "n".repeat(252);
    let tensors = [(&long[..], "I8", &[16, 16][..], weights(256, 3))];
    f.write("m.safetensors", &safetensors(&tensors));
    f.run(&["compress", "m.safetensors"]).ok();
    f.run(&["extract", "m.wcodec", &long]).fails(&["name too long", "name the output with -o"]);
    f.run(&["extract", "m.wcodec", &long, "-o", "x.npy"]).ok();
    let array = format!("{}.npy", &long[..251]);
    f.write(&array, &column(4));
    f.run(&["compress", &array, "--to", "parquet"]).fails(&["name the output with -o"]);
}

#[test]
fn max_output_is_kept_and_leaves_nothing() {
    let f = Folder::new();
    f.write("a.npy", &column(1000));
    f.run(&["compress", "a.npy"]).ok();
    let args = ["decompress", "a.pco", "-o", "b.npy", "--max-output"];
    f.run(&[&args[..], &["8127"]].concat()).fails(&["--max-output 8127", "in b.npy"]);
    assert_eq!(f.names(), ["a.npy", "a.pco"]);
    f.run(&[&args[..], &["8128"]].concat()).ok();
    let raw = ["decompress", "a.pco", "-o", "-", "--max-output", "100"];
    assert!(f.run(&raw).fails(&["--max-output 100"]).out.len() <= 100);
}

#[test]
fn silence_where_it_is_asked_for() {
    let f = Folder::new();
    f.write("a.npy", &column(1000));
    let done = f.run(&["compress", "-q", "a.npy"]).ok();
    assert_eq!((done.err.as_str(), done.out.len()), ("", 0));
    let done = f.run(&["decompress", "-q", "-f", "a.pco"]).ok();
    assert_eq!((done.err.as_str(), done.out.len()), ("", 0));
    let done = f.run(&["verify", "-q", "a.pco"]).ok();
    assert_eq!((done.err.as_str(), done.out.len()), ("", 0));
}

#[test]
fn one_of_a_thing_is_one() {
    let f = Folder::new();
    f.write("t.csv", b"a\n1\n");
    f.run(&["compress", "t.csv", "-o", "t.parquet"]).ok();
    let done = f.run(&["inspect", "t.parquet"]).ok();
    assert!(done.text().contains("Parquet: 1 row × 1 column, 1 row group, "), "{}", done.text());
    f.run(&["compress", "t.csv", "-o", "t.dbp"]).ok();
    let done = f.run(&["inspect", "t.dbp"]).ok();
    assert!(done.text().contains("DELTA_BINARY_PACKED: 1 number, "), "{}", done.text());
}

#[test]
fn a_folder_is_answered_by_what_is_in_it() {
    let f = Folder::new();
    std::fs::create_dir(f.path("hf")).unwrap();
    f.write("a.npy", &column(9));
    let folder = |hint: &str| f.run(&["compress", "hf"]).fails(&["is a folder", "in hf", hint]);
    assert!(folder("name a file in it\n").err.ends_with("name a file in it\n"));
    f.write("hf/config.json", b"{}");
    f.write("hf/t.csv", b"a\n1\n");
    folder("name a file in it: hf/t.csv\n");
    f.write("hf/m-1.safetensors", b"");
    folder("name a file in it: hf/m-1.safetensors\n");
    f.write("hf/m-2.safetensors", b"");
    folder("name a file in it\n");
    f.write("hf/m.safetensors.index.json", b"{}");
    folder("name a file in it: hf/m.safetensors.index.json\n");
    let done = f.run(&["compress", "a.npy", "-o", "hf/"]);
    done.fails(&["the output is a folder", "name a file in it: -o hf/a.pco\n"]);
}
