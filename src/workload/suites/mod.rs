//! The workloads of the papers: the kernel, and the parameters, that stand for each.
//!
//! Sizes are those of the papers as far as they tell them; one more parameter, `scale`, shrinks any of them. Each is a scenario,
//! too, that is made when it is asked for: `workloads/numa/hpc-hpgmg`.

mod numa;
mod paged;
mod scalegpu;
mod selective;
mod umh;

pub use numa::NUMA;
pub use paged::PAGED;
pub use scalegpu::SCALE_GPU;
pub use selective::SELECTIVE;
pub use umh::UMH;

use super::TaskKind;
use super::kernels::{self, Parameters, Value};
use crate::diagnostic::{Result, in_toml};

/// The folder of the scenarios that are workloads of papers.
pub const FOLDER: &str = "workloads/";

/// The workloads of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// The folder of its workloads.
    pub name: &'static str,
    /// The paper, and where it lists them.
    pub source: &'static str,
    /// The bundled machine that they run on if none is named.
    pub machine: &'static str,
    pub workloads: &'static [Workload],
}

/// All of them.
pub const SUITES: [Suite; 5] = [
    Suite { name: "umh", source: "UMH (2016), Table I", machine: "umh-4gpu-nvlink", workloads: UMH },
    Suite {
        name: "selective",
        source: "Selective GPU Caches to Eliminate CPU-GPU HW Cache Coherence (2016), Tables 1 to 3",
        machine: "selective-variable",
        workloads: SELECTIVE,
    },
    Suite {
        name: "numa",
        source: "Beyond the Socket: NUMA-Aware GPUs (2017), Table 2",
        machine: "numa-4socket",
        workloads: NUMA,
    },
    Suite {
        name: "paged",
        source: "Towards High Performance Paged Memory for GPUs (2016), Fig. 3 to 10",
        machine: "paged-gtx480",
        workloads: PAGED,
    },
    Suite { name: "scalegpu", source: "ScaleGPU (2014), Table 2", machine: "scalegpu", workloads: SCALE_GPU },
];

/// The names of all of them, as scenarios.
pub fn names() -> impl Iterator<Item = String> {
    SUITES.iter().flat_map(|suite| suite.workloads.iter().map(|workload| suite.path(workload)))
}

/// The scenario that a name means, if it is one of them: its full name, and its text, on `machine` or on that of its paper.
#[must_use]
pub fn scenario(name: &str, machine: Option<&str>) -> Option<(String, String)> {
    let all = SUITES.iter().flat_map(|suite| suite.workloads.iter().map(move |workload| (suite, workload)));
    let mut found = all.filter(|(suite, workload)| suite.path(workload).eq_ignore_ascii_case(name));
    found.next().map(|(suite, workload)| (suite.path(workload), suite.scenario(workload, machine)))
}

/// The scenario that runs the kernel of this name on `machine`, with the defaults of its parameters; nothing if there is none.
#[must_use]
pub fn kernel(name: &str, machine: &str) -> Option<String> {
    let kernel = kernels::find(name).ok()?;
    let head = format!("about = {}\n", in_toml(&format!("The kernel `{name}`: {}.", kernel.title)));
    Some(Workload::of(kernel.name, kernel.name, &[]).scenario(&head, machine, &[]))
}

impl Suite {
    /// The name of one of its workloads as a scenario.
    #[must_use]
    pub fn path(&self, workload: &Workload) -> String {
        let own = workload.name.to_ascii_lowercase().replace(' ', "-");
        format!("{FOLDER}{}/{own}", self.name)
    }

    fn scenario(&self, workload: &Workload, machine: Option<&str>) -> String {
        let head =
            format!("source = {}\nabout = {}\n", in_toml(self.source), in_toml(&workload.about(self.source)));
        workload.scenario(&head, machine.unwrap_or(self.machine), &[])
    }
}

/// A workload of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// As the paper calls it.
    pub name: &'static str,
    pub kernel: &'static str,
    /// Parameters of the kernel and their values; the others have their defaults.
    pub with: &'static [(&'static str, &'static str)],
    /// What the paper's table says of it.
    pub table: Option<Row>,
    /// What the paper's tables say that was measured.
    pub rates: Option<Rates>,
    /// In what the kernel so called differs from the table, whose blocks are held against those of the largest launch; empty if it does not,
    /// but for an eighth.
    pub differs: &'static str,
}

/// What a table says of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Thread blocks of a launch, weighted by time.
    pub blocks: Option<u64>,
    /// Footprint, in megabytes.
    pub megabytes: u64,
}

/// What tables say that caches did for a workload, in per cent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Hits in the L1s and L2s of a GPU with hardware coherence.
    pub l1_hits: f64,
    pub l2_hits: f64,
    /// Accesses coalesced into requests under way by L1s, and by L1s and L2s.
    pub l1_coalesced: f64,
    pub coalesced: f64,
    /// What was used of the lines that came.
    pub line_use: f64,
}

impl Rates {
    /// In the order in which they are declared.
    const fn of([l1_hits, l2_hits, l1_coalesced, coalesced, line_use]: [f64; 5]) -> Self {
        Self { l1_hits, l2_hits, l1_coalesced, coalesced, line_use }
    }

    /// All of them in words.
    #[must_use]
    pub fn text(&self) -> String {
        format!(
            "L1 hits {:.1} %, L2 hits {:.1} %, coalesced by L1s {:.1} %, by L1s and L2s {:.1} %, used of a line {:.1} %",
            self.l1_hits, self.l2_hits, self.l1_coalesced, self.coalesced, self.line_use
        )
    }
}

impl Workload {
    const fn of(
        name: &'static str,
        kernel: &'static str,
        with: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { name, kernel, with, table: None, rates: None, differs: "" }
    }

    const fn row(self, blocks: u64, megabytes: u64) -> Self {
        Self { table: Some(Row { blocks: Some(blocks), megabytes }), ..self }
    }

    const fn megabytes(self, megabytes: u64) -> Self {
        Self { table: Some(Row { blocks: None, megabytes }), ..self }
    }

    const fn rates(self, rates: [f64; 5]) -> Self {
        Self { rates: Some(Rates::of(rates)), ..self }
    }

    const fn but(self, differs: &'static str) -> Self {
        Self { differs, ..self }
    }

    /// The scenario that runs it on a machine, with parameters of its kernel beside its own, or instead of them; `head` is what
    /// else stands there.
    #[must_use]
    pub fn scenario(&self, head: &str, machine: &str, with: &[String]) -> String {
        let is_given =
            |name: &str| with.iter().any(|one| one.split_once(" =").is_some_and(|(own, _)| own == name));
        let own = self.with.iter().filter(|(name, _)| !is_given(name));
        let own = own.map(|(name, value)| format!("{name} = \"{value}\""));
        let with: Vec<String> = own.chain(with.iter().cloned()).collect();
        format!(
            "title = {}\n{head}machine = {}\nchecks = false\n[[kernel]]\nid = \"run\"\nname = {}\nwith = {{ {} }}\n",
            in_toml(self.name),
            in_toml(machine),
            in_toml(self.kernel),
            with.join(", ")
        )
    }

    /// What stands for it, what its paper tells of it, and in what the two differ.
    #[must_use]
    pub fn about(&self, paper: &str) -> String {
        let kernel = kernels::find(self.kernel).map_or(self.kernel, |kernel| kernel.title);
        let mut text = format!("{} of {paper} is the kernel `{}` here: {kernel}.", self.name, self.kernel);
        if let Some(row) = self.table {
            let blocks = row.blocks.map(|blocks| format!("{blocks} thread blocks, ")).unwrap_or_default();
            text += &format!(" The table says: {blocks}{} MB.", row.megabytes);
            if self.differs.is_empty() {
                text += " That is met within an eighth by the largest launch.";
            }
        }
        if let Some(rates) = self.rates {
            text += &format!(" The tables say: {}.", rates.text());
        }
        if !self.differs.is_empty() {
            text += &format!(" What differs: {}.", self.differs);
        }
        text
    }

    /// Its parameters.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        let list: Vec<_> =
            self.with.iter().map(|(name, value)| (*name, Value::Text((*value).to_owned()))).collect();
        Parameters::of(&list)
    }

    /// What it does, with its data shrunk by `scale`, a power of two.
    ///
    /// # Errors
    /// If too little is left of the data.
    pub fn build(&self, scale: u64) -> Result<Vec<TaskKind>> {
        let mut parameters = self.parameters();
        parameters.offer(self.kernel, "scale", scale);
        kernels::build(self.kernel, &parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of the largest launch, and bytes that the launches touch, each once.
    fn measure(steps: &[TaskKind]) -> (u64, u64) {
        let (mut blocks, mut ranges) = (0, Vec::new());
        for step in steps {
            let TaskKind::Kernel(kernel) = step else { continue };
            blocks = blocks.max(kernel.blocks());
            ranges.extend(kernel.footprint().iter().map(|range| (range.start.0, range.end())));
        }
        ranges.sort_unstable();
        let (mut bytes, mut end) = (0, 0);
        for (from, to) in ranges {
            bytes += to.max(end) - from.max(end);
            end = to.max(end);
        }
        (blocks, bytes)
    }

    fn near(ours: u64, theirs: u64) -> bool {
        8 * ours.abs_diff(theirs) <= theirs
    }

    fn all() -> impl Iterator<Item = &'static Workload> {
        [NUMA, PAGED, SELECTIVE, SCALE_GPU].into_iter().flatten()
    }

    #[test]
    fn workloads_are_as_large_as_the_papers_say() {
        let mut wrong = Vec::new();
        for workload in all() {
            let Some(row) = workload.table else { continue };
            let (blocks, bytes) = measure(&workload.build(1).unwrap());
            let held = near(bytes, row.megabytes * 1_000_000)
                && row.blocks.is_none_or(|theirs| near(blocks, theirs));
            if held != workload.differs.is_empty() {
                wrong.push(format!("{}: {blocks} blocks, {bytes} bytes, {row:?}", workload.name));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Those of Table 1 do not: its rows have 42.7 and 49.2 % on average, where it prints 44.4 and 51.6 %.
    #[test]
    fn rates_of_tables_2_and_3_have_the_averages_that_the_tables_print() {
        let rates: Vec<Rates> = SELECTIVE.iter().filter_map(|workload| workload.rates).collect();
        assert_eq!(rates.len(), 12);
        let mean = |of: fn(&Rates) -> f64| rates.iter().map(of).sum::<f64>() / 12.0;
        let means = [mean(|one| one.l1_coalesced), mean(|one| one.coalesced), mean(|one| one.line_use)];
        for (mean, printed) in means.into_iter().zip([30.7, 35.4, 60.6]) {
            assert!((mean - printed).abs() < 0.06, "{mean} for {printed}");
        }
        assert!(
            SELECTIVE[0]
                .about("the paper")
                .contains("L1 hits 62.4 %, L2 hits 70.0 %, coalesced by L1s 54.2 %")
        );
    }

    #[test]
    fn each_has_a_name_and_a_text_of_its_own() {
        let names: std::collections::BTreeSet<_> = names().collect();
        assert_eq!(names.len(), SUITES.iter().map(|suite| suite.workloads.len()).sum::<usize>());
        let (name, text) = scenario("workloads/numa/HPC-HPGMG", None).unwrap();
        assert_eq!(name, "workloads/numa/hpc-hpgmg");
        assert!(text.contains("The table says: 10506 thread blocks, 1571 MB."), "{text}");
        let (_, comd) = scenario("workloads/numa/hpc-comd", None).unwrap();
        assert!(
            comd.contains("3588 thread blocks, 319 MB. That is met within an eighth by the largest launch."),
            "{comd}"
        );
        assert!(
            names.contains("workloads/scalegpu/bank-account")
                && scenario("workloads/numa/none", None).is_none()
        );
    }

    #[test]
    fn all_shrink() {
        // By sixteen, but for what is not data: the weights of a layer, tables of materials.
        let mut wrong = Vec::new();
        for workload in all() {
            let [from, to] = [4, 64].map(|scale| measure(&workload.build(scale).unwrap()).1);
            if !(2..32).contains(&(from / to)) {
                wrong.push(format!("{}: {from} to {to}", workload.name));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn the_paged_workloads_have_the_papers_range_of_footprints() {
        let bytes: Vec<_> = PAGED.iter().map(|workload| measure(&workload.build(1).unwrap()).1).collect();
        assert!(bytes.iter().all(|bytes| (2_600_000..=144_000_000).contains(bytes)), "{bytes:?}");
        let mean = bytes.iter().sum::<u64>() / bytes.len() as u64;
        assert!(near(mean, 43_000_000), "{mean}");
    }
}
