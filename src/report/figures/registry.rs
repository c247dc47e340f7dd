//! All figures of all papers.

use super::figure::Figure;
use super::{numa, page, scale_gpu, selective, umh};
use crate::diagnostic::{Diagnostic, Result};

/// Every figure, paper by paper.
pub fn all() -> impl Iterator<Item = &'static Figure> {
    let papers: [&'static [Figure]; 5] =
        [&umh::FIGURES, &selective::FIGURES, &numa::FIGURES, &page::FIGURES, &scale_gpu::FIGURES];
    papers.into_iter().flatten()
}

/// The word of a paper: what the ids of its figures begin with.
fn paper(figure: &Figure) -> &'static str {
    figure.id.split('-').next().unwrap_or(figure.id)
}

/// The figures with these ids, or of these papers, each once and in the order of the registry; all of them without ids.
///
/// # Errors
/// If there is none of an id; names the nearest.
pub fn select(ids: &[String]) -> Result<Vec<&'static Figure>> {
    let is_of = |figure: &Figure, id: &String| figure.id == id || paper(figure) == id;
    for id in ids {
        if !all().any(|figure| is_of(figure, id)) {
            let unknown = Diagnostic::new(format!("there is no figure `{id}`"));
            let expected =
                "an id that `umscope help figures` lists, or what those of a paper begin with, such as umh";
            let known = all().flat_map(|figure| [figure.id, paper(figure)]);
            return Err(Box::new(unknown.expected(expected).nearest(id, known)));
        }
    }
    Ok(all().filter(|figure| ids.is_empty() || ids.iter().any(|id| is_of(figure, id))).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::machine::FirstPass;
    use crate::report::figures::effort::Effort;

    #[test]
    fn no_id_is_there_twice() {
        let ids: BTreeSet<_> = all().map(|figure| figure.id).collect();
        assert_eq!((ids.len(), all().count()), (51, 51));
    }

    #[test]
    fn figures_are_chosen_by_id_and_slips_are_answered() {
        let chosen = select(&["umh-mask", "umh-block", "umh-mask"].map(str::to_owned)).unwrap();
        assert_eq!(chosen.iter().map(|figure| figure.id).collect::<Vec<_>>(), ["umh-block", "umh-mask"]);
        let papers = select(&["scale".to_owned(), "scale-tag".to_owned()]).unwrap();
        assert_eq!(papers.len(), 4);
        assert!(papers.iter().all(|figure| figure.id.starts_with("scale-")));
        let wrong = select(&["umh-blok".to_owned()]).unwrap_err();
        assert_eq!(wrong.suggestion.as_deref(), Some("did you mean umh-block?"));
    }

    #[test]
    fn every_run_of_every_figure_can_be_built() {
        let runs: BTreeSet<_> = all().flat_map(|figure| (figure.experiments)(Effort::Quick)).collect();
        assert!(runs.len() > 50, "{}", runs.len());
        let mut wrong = Vec::new();
        for run in runs {
            let Err(error) = run.prepare_with(FirstPass::Skipped) else { continue };
            // What the paper says of work that cannot be divided: the copy-first baseline refuses it.
            let is_half = run.set.iter().any(|key| key == "gpu.copies.share=50");
            if !(run.scenario.contains("scalegpu-copy") && is_half) {
                wrong.push(format!("{}\n{:?}: {error}", run.scenario, run.set));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        for run in all().flat_map(|figure| (figure.experiments)(Effort::Whole)) {
            assert!(run.scale.is_power_of_two());
        }
    }
}
