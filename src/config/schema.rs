//! JSON schemas of the files, for editors that complete and check them.

use schemars::schema_for;

use super::machine_file::MachineFile;
use super::protocol_file::ProtocolFile;
use super::sweep_file::SweepFile;

/// The schema of machine files.
#[must_use]
pub fn machine() -> serde_json::Value {
    schema_for!(MachineFile).to_value()
}

/// The schema of protocol files.
#[must_use]
pub fn protocol() -> serde_json::Value {
    schema_for!(ProtocolFile).to_value()
}

/// The schema of sweep files.
#[must_use]
pub fn sweep() -> serde_json::Value {
    schema_for!(SweepFile).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_describe_and_forbid_unknown_keys() {
        let machine = machine();
        assert_eq!(machine["additionalProperties"], false);
        let text = machine.to_string();
        assert!(text.contains("GPUs, 1 to 8. Default: 1."));
        assert!(text.contains("a size such as"));
        let protocol = protocol();
        assert!(protocol.to_string().contains("owned by another"), "{protocol}");
    }
}
