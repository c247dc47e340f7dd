//! The systems that UMH is compared with, on the same workloads (section 3.1): their machines and runs.

use super::system::Scaled;
use crate::report::figures::experiment::Experiment;
use crate::report::figures::suite;
use crate::workload::kernels;

/// How data come to the GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    Umh,
    Memcpy,
    ZeroCopy,
    /// Unified memory in software.
    Managed,
}

/// What connects the devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    Pcie,
    Nvlink,
}

/// In the order of Fig. 13.
pub const NETWORKS: [Network; 2] = [Network::Pcie, Network::Nvlink];
pub const COMPARED: [System; 3] = [System::Memcpy, System::ZeroCopy, System::Umh];
pub const COUNTS: [u32; 3] = [1, 2, 4];

/// A system with so many GPUs on a network.
pub type Setting = (System, u32, Network);

impl System {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Umh => "UMH",
            Self::Memcpy => "memcpy",
            Self::ZeroCopy => "zero-copy",
            Self::Managed => "software UM",
        }
    }
}

impl Network {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pcie => "PCIe",
            Self::Nvlink => "NVLink",
        }
    }
}

fn machine((system, gpus, network): Setting) -> String {
    let system = match system {
        System::Umh => "umh",
        System::Memcpy => "baseline-memcpy",
        System::ZeroCopy => "baseline-zerocopy",
        System::Managed => "baseline-managed",
    };
    format!("{system}-{gpus}gpu-{}", network.name().to_lowercase())
}

/// A run of a workload until the host can use its results: at once under UMH, which synchronises what the host asks for
/// (section 4.2.1); after copies back, or (zero-copy) after what is in the caches was flushed.
#[must_use]
pub fn run((workload, scale): Scaled, setting: Setting) -> Experiment {
    let mut with = vec![format!("scale = {scale}")];
    // Its host has to flush, too, before it may read what GPUs have stored.
    let parameters = kernels::find(workload.kernel).map(kernels::Definition::parameters);
    if setting.0 == System::ZeroCopy
        && parameters.is_ok_and(|mut parameters| parameters.any(|parameter| parameter.name == "sync"))
    {
        with.push("sync = \"flush\"".to_owned());
    }
    let mut experiment = suite::experiment(&machine(setting), workload, &with, Vec::new());
    if setting.0 == System::ZeroCopy {
        experiment.scenario.push_str("[[flush]]\nid = \"flush\"\nafter = \"run\"\n");
    }
    experiment
}

/// The runs of workloads on one system.
pub fn on(setting: Setting) -> impl Fn(Scaled) -> Experiment {
    move |scaled| run(scaled, setting)
}

/// The runs of `workloads` on each of these.
#[must_use]
pub fn runs(workloads: &[Scaled], settings: &[Setting]) -> Vec<Experiment> {
    workloads.iter().flat_map(|&scaled| settings.iter().map(move |setting| run(scaled, *setting))).collect()
}

/// The workloads whose value is below one, with it.
#[must_use]
pub fn below_one(workloads: &[Scaled], values: &[f64]) -> String {
    let lost = workloads.iter().zip(values).filter(|(_, value)| **value < 1.0);
    lost.map(|((workload, _), value)| format!("{} {value:.2}", workload.name)).collect::<Vec<_>>().join(", ")
}
