//! The workloads of the papers: the kernel, and the parameters, that stand for each.
//!
//! Sizes are those of the papers as far as they tell them; one more parameter, `scale`, shrinks any of them.

mod numa;
mod paged;
mod scalegpu;
mod selective;

pub use numa::NUMA;
pub use paged::PAGED;
pub use scalegpu::SCALE_GPU;
pub use selective::SELECTIVE;

use super::TaskKind;
use super::kernels::{self, Parameter, Parameters, Value};
use crate::diagnostic::Result;

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
    /// In what the kernel so called differs from the table; empty if it does not, but for an eighth.
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

impl Workload {
    const fn of(
        name: &'static str,
        kernel: &'static str,
        with: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { name, kernel, with, table: None, differs: "" }
    }

    const fn row(self, blocks: u64, megabytes: u64) -> Self {
        Self { table: Some(Row { blocks: Some(blocks), megabytes }), ..self }
    }

    const fn megabytes(self, megabytes: u64) -> Self {
        Self { table: Some(Row { blocks: None, megabytes }), ..self }
    }

    const fn but(self, differs: &'static str) -> Self {
        Self { differs, ..self }
    }

    /// Its parameters as a scenario has them.
    #[must_use]
    pub fn written(&self) -> Vec<String> {
        self.with.iter().map(|(name, value)| format!("{name} = \"{value}\"")).collect()
    }

    /// Its parameters.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        let parameter = |(name, value): &(&str, &str)| Parameter {
            name: (*name).to_owned(),
            name_span: None,
            value: Value::Text((*value).to_owned()),
            value_span: None,
        };
        Parameters { source: None, list: self.with.iter().map(parameter).collect() }
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
