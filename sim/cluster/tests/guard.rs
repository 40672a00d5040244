//! What this package stands on: the cfg, and that nobody else has anything of it.

use std::process::Command;

#[test]
fn the_cfg_of_madsim_is_there() {
    let is_there = cfg!(madsim);
    assert!(is_there, "{}", handover_cluster::CFG_IS_LOST);
}

/// The packages that a package is built with, its own tests included.
fn tree(package: &str) -> String {
    let cargo = env!("CARGO");
    let arguments = ["tree", "--offline", "--prefix", "none", "--edges", "all", "--target", "all"];
    let output = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .args(["--all-features", "--package", package])
        .output()
        .expect("cargo runs this test");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo tree -p {package}: {errors}");
    String::from_utf8(output.stdout).expect("names of packages are ASCII")
}

fn links_madsim(package: &str) -> bool {
    tree(package).lines().any(|line| line.starts_with("madsim"))
}

#[test]
fn no_package_that_others_use_links_madsim() {
    for package in ["handover-core", "handover-node", "handover-sim", "handover-tests"] {
        assert!(!links_madsim(package), "{package} links madsim");
    }
    assert!(links_madsim("handover-cluster"), "the search finds what is there");
}

#[test]
fn nothing_depends_on_this_package() {
    for package in ["handover-core", "handover-node", "handover-sim", "handover-tests"] {
        let tree = tree(package);
        let found = tree.lines().any(|line| line.starts_with("handover-cluster"));
        assert!(!found, "{package} depends on handover-cluster");
    }
}
