//! The scenario files that ship, and what the format's reader says about files with mistakes.

use std::collections::BTreeMap;

use ctxbench::scenario::{Size, builtin_names, compile_builtin};

#[test]
fn every_shipped_scenario_compiles_in_every_size() {
    for name in builtin_names() {
        for size in Size::ALL {
            let scenario =
                compile_builtin(name, size, &BTreeMap::new()).expect("a built-in name").unwrap_or_else(|errors| panic!("{errors}"));
            assert_eq!(scenario.id, name);
            assert_eq!(scenario.size, size);
            println!("{} {:?} {}", name, size, scenario.digest);
        }
    }
}
