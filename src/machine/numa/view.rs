//! Which memory the pages of the work live in, for those who look: of a socket, or of a GPU or its host.

use crate::machine::Machine;
use crate::model::page::{Page, PageRun};
use crate::model::page_view::{Home, HomeCell, HomesView};
use crate::policy::placement::Placement;
use crate::protocol::homes::Homes;

/// Pages that are looked at, at most.
const MOST: u64 = 1 << 20;

impl Machine {
    /// The homes of pages, in at most so many cells, where they live in several memories.
    pub(in crate::machine) fn view_homes(&self, cells: usize) -> Option<HomesView> {
        let (size, placement, homes) = self.memories_of_pages()?;
        let gpu = self.fixed.spec.gpu.as_ref();
        let is_fine =
            gpu.and_then(|gpu| gpu.numa.as_ref()).is_some_and(|numa| numa.placement == Placement::Fine);
        let runs = if is_fine { Vec::new() } else { self.pages_of_work(size) };
        let pages: u64 = runs.iter().map(|run| run.count).sum();
        let group = pages.min(MOST).div_ceil(cells.max(1) as u64).next_power_of_two();
        let piece = gpu.map_or(0, |gpu| u64::from(gpu.l2.interleave));
        let mut view =
            HomesView { page: size, placement, piece, group, homes, undecided: 0, cells: Vec::new() };
        for page in runs.iter().flat_map(|run| run.iter()).take(MOST as usize) {
            let first = page.range(size).start;
            let home = (!self.homes.is_undecided(first)).then(|| self.homes.of(first));
            match home.and_then(|home| view.homes.get_mut(home as usize)) {
                Some(home) => home.pages += 1,
                None => view.undecided += 1,
            }
            let start = Page(page.0 / group * group).range(size).start;
            if let Some(cell) = view.cells.last_mut().filter(|cell| cell.first == start) {
                cell.add(home);
            } else {
                let len = group * u64::from(size);
                view.cells.push(HomeCell { first: start, len, home, is_mixed: false });
            }
        }
        Some(view)
    }

    /// Bytes of a page, what the policy does, and the memories that it may choose.
    fn memories_of_pages(&self) -> Option<(u32, String, Vec<Home>)> {
        let gpu = self.fixed.spec.gpu.as_ref()?;
        let home = |name: &str, letter| Home { name: name.to_owned(), letter, pages: 0 };
        if let Some(numa) = &gpu.numa {
            let sockets = (0..self.fixed.sockets.len() as u32)
                .map(|socket| home(&format!("gpu{socket}"), char::from_digit(socket, 10).unwrap_or('+')));
            return Some((numa.page, numa.placement.name().to_owned(), sockets.collect()));
        }
        let unified = gpu.unified.as_ref()?;
        let placement = format!("{} % of the pages meant for host memory", unified.host_share);
        Some((unified.page, placement, vec![home("host", 'h'), home("gpu0", 'g')]))
    }

    /// The pages that the work names, and those that have a home.
    fn pages_of_work(&self, size: u32) -> Vec<PageRun> {
        let ranges = self.tasks.workload.tasks.iter().flat_map(|task| task.what.footprint());
        let mut runs: Vec<PageRun> = ranges.map(|range| PageRun::of(range, size)).collect();
        if let Homes::Paged(_) = self.homes {
            runs.extend(self.homes.decided().into_iter().map(|(first, _)| PageRun { first, count: 1 }));
        }
        PageRun::merged(runs)
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::sample::working;
    use crate::model::access::AccessKind::Load;

    #[test]
    fn pages_are_shown_where_they_were_touched_first() {
        let work = [("gpu0.cu0", Load, vec![0x0, 0x1000]), ("gpu1.cu0", Load, vec![0x5000])];
        let mut machine = working("tiny/numa-4socket", &["gpu.numa.placement=first-touch"], &work);
        machine.run_until(u64::MAX);
        let view = machine.view_homes(64).unwrap();
        let counts: Vec<u64> = view.homes.iter().map(|home| home.pages).collect();
        assert_eq!((view.group, counts.as_slice(), view.undecided), (1, &[2, 1, 0, 0][..], 0));
        let homes: Vec<_> = view.cells.iter().map(|cell| (cell.first.0, cell.home)).collect();
        assert_eq!(homes, [(0, Some(0)), (0x1000, Some(0)), (0x5000, Some(1))]);
        let coarse = machine.view_homes(1).unwrap();
        assert!(coarse.cells[0].is_mixed || coarse.cells.len() > 1, "{coarse:?}");
        let dealt = working("tiny/numa-4socket", &["gpu.numa.placement=fine"], &work);
        assert!(dealt.view_homes(64).unwrap().cells.is_empty());
        let paged = working("tiny/numa-4socket", &["gpu.numa.placement=page"], &work);
        let homes: Vec<_> = paged.view_homes(64).unwrap().cells.iter().map(|cell| cell.home).collect();
        assert_eq!(homes, [Some(0), Some(1), Some(1)], "page by page round the sockets");
    }

    #[test]
    fn pages_of_a_gpu_and_its_host_are_told_apart() {
        let work = [("gpu0.cu0", Load, vec![0x0, 0x1000, 0x2000])];
        let machine = working("tiny/selective", &["gpu.unified.host_share=50"], &work);
        let view = machine.view_homes(64).unwrap();
        let letters: String = view.cells.iter().map(|cell| view.letter(cell)).collect();
        assert_eq!(letters.len(), 3, "{view:?}");
        assert_eq!(view.homes.iter().map(|home| home.pages).sum::<u64>(), 3);
        assert!(letters.contains('h') && letters.contains('g'), "{letters}");
    }
}
