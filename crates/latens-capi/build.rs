//! Names the shared library as it will be installed.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The first number of LT_ABI_VERSION: programs keep running with what has the same one.
    const ABI: u32 = 0;
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    match os.as_str() {
        "macos" => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/liblatens.{ABI}.dylib");
        }
        "linux" | "android" | "freebsd" | "netbsd" | "openbsd" | "dragonfly" => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,liblatens.so.{ABI}");
        }
        _ => {}
    }
}
