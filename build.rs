//! Has the crate built again when a bundled file is added or removed.

fn main() {
    println!("cargo:rerun-if-changed=configs");
    println!("cargo:rerun-if-changed=scenarios");
}
