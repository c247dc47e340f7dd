//! Machine and protocol files as typed specifications.

pub mod machine;
