//! Sessions on what is bundled, for tests.

use super::origin::Origin;
use super::session::Session;
use crate::scenario::{Options, Scenario};

/// A session on a bundled scenario, as it stands.
pub fn bundled(name: &str) -> Session {
    bundled_with(name, &Options::default())
}

/// The same with changes.
pub fn bundled_with(name: &str, options: &Options) -> Session {
    let scenario = Scenario::load(name).unwrap();
    let prepared = scenario.prepare(options).unwrap();
    Session::open(Origin::scenario(name, &scenario, options, prepared), None)
}
