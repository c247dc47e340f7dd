//! Paged memory of sockets that are one GPU: they access each other's memories, so that a page that one of them has is translated
//! for all. Its home brings it: the socket of which the placement says so, or that has far-faulted first ("UVM page migration ...
//! as soon as the first access", "Beyond the Socket: NUMA-Aware GPUs", section 3).

use super::{GpuPaging, Keep, Machine, Owner, Paging};
use crate::model::component::ComponentId;
use crate::model::page::Page;
use crate::model::page_view::FaultStep;
use crate::model::record::What;
use crate::parts::driver::Driver;
use crate::parts::residency::Place;
use crate::policy::placement::Placement;
use crate::protocol::outbox::Outbox;

impl Paging {
    /// Whether a GPU translates a page to where it is.
    pub(super) fn maps(&self, gpu: usize, page: Page) -> bool {
        let driver = self.gpus.get(gpu).and_then(|one| one.driver.as_ref());
        driver.is_some_and(|driver| is_mapped(self.keep, self.owners.get(&page), (gpu, driver), page))
    }

    /// The GPUs that a change of a page concerns: all, where they share their memories.
    pub(super) fn concerned(&self, gpu: usize) -> std::ops::Range<usize> {
        if self.is_shared() { 0..self.gpus.len() } else { gpu..gpu + 1 }
    }

    /// Tells of a fault that a driver takes on to the GPUs whose units asked.
    pub(super) fn tell_askers(&mut self, page: Page, told: FaultStep) {
        for one in self.gpus.iter_mut().filter(|one| one.lives.is_open(page)) {
            one.lives.tell(page, told);
        }
    }

    /// Compute units that may translate a page of a GPU.
    pub(super) fn units_of(&self, gpu: usize) -> Vec<usize> {
        let all = self.gpus.get(self.concerned(gpu)).unwrap_or_default();
        all.iter().flat_map(|one| one.ports.units.iter().copied()).collect()
    }

    /// Those whose fault of a page ends since it has come to a GPU, by their GPU.
    pub(super) fn end_faults(&mut self, gpu: usize, page: Page) -> Vec<(usize, Vec<u32>)> {
        let concerned = self.concerned(gpu);
        let ended = self.gpus.iter_mut().enumerate().filter(|(gpu, _)| concerned.contains(gpu));
        ended.map(|(gpu, one)| (gpu, one.gmmu.arrived(page).to_vec())).collect()
    }
}

/// Whether a page that is there is translated for a GPU.
pub(super) fn is_mapped(
    keep: Keep,
    owner: Option<&Owner>,
    (gpu, driver): (usize, &Driver),
    page: Page,
) -> bool {
    match (keep, owner) {
        (Keep::Mapped, _) => driver.residency.resident().contains(page),
        (Keep::Shared, Some(Owner::Gpu(_))) => true,
        (Keep::Apart, Some(Owner::Gpu(at))) => *at as usize == gpu,
        _ => false,
    }
}

impl Machine {
    /// The GPU that brings a page that `gpu` wants, or has it.
    pub(super) fn bringer(&self, gpu: usize, page: Page, out: &Outbox) -> usize {
        let Some(paging) = self.paging.as_ref().filter(|paging| paging.is_shared()) else { return gpu };
        let address = page.range(paging.page).start;
        let is_leaving = matches!(paging.owners.get(&page), Some(Owner::ToHost(_)));
        if out.homes.is_undecided(address) || is_leaving && self.places_by_first_touch() {
            return gpu;
        }
        out.homes.of(address) as usize
    }

    fn places_by_first_touch(&self) -> bool {
        let numa = self.fixed.spec.numa();
        numa.is_some_and(|numa| numa.placement == Placement::FirstTouch)
    }

    /// A page comes to a GPU, which becomes its home if it has none.
    pub(super) fn claim(&mut self, gpu: usize, page: Page, out: &mut Outbox) {
        let about = self.about_page(page);
        let Some(paging) = self.paging.as_mut() else { return };
        match paging.keep {
            Keep::Apart => return others(paging, gpu).for_each(|driver| driver.lose_to_other(page)),
            Keep::Mapped => return,
            Keep::Shared => {}
        }
        let address = page.range(paging.page).start;
        if !out.homes.is_undecided(address) {
            return;
        }
        out.homes.decide(address, |_| gpu as u32);
        for driver in others(paging, gpu) {
            driver.yield_to_other(page);
        }
        let at = paging.gpus.get(gpu).map_or(ComponentId(0), |one| one.ports.driver);
        out.record(at, about, || What::PageHome { home: gpu as u32 });
    }

    /// A page is in host memory again: whoever touches it first is its home.
    pub(super) fn disclaim(&mut self, gpu: usize, page: Page, out: &mut Outbox) {
        let first_touch = self.places_by_first_touch();
        let Some(paging) = self.paging.as_mut() else { return };
        let to_core = paging.recalled.contains_key(&page);
        if !paging.is_shared() && !to_core {
            others(paging, gpu).for_each(|driver| driver.left_by_other(page));
        }
        if !paging.is_shared() || !first_touch {
            return;
        }
        out.homes.forget(page.range(paging.page).start);
        for driver in others(paging, gpu) {
            driver.returned_by_other(page, to_core);
        }
    }

    /// Whether the driver that a far-fault goes to is told of it for the first time. One that asks for a page again would have
    /// it brought again when nobody waits for it any more.
    pub(super) fn is_news(&self, gpu: usize, page: Page) -> bool {
        let one = self.paging.as_ref().and_then(|paging| paging.gpus.get(gpu));
        let driver = one.and_then(|one| one.driver.as_ref());
        !driver.is_some_and(|driver| driver.has_in_hand(page))
    }

    /// The part of the paging that has a page that `gpu` wants in hand, for those who look.
    pub(super) fn brings(&self, gpu: usize, page: Page) -> Option<&GpuPaging> {
        let paging = self.paging.as_ref()?;
        let has = |one: &&GpuPaging| {
            let place = one.driver.as_ref().map(|driver| driver.residency.place(page));
            matches!(place, Some(Place::Coming | Place::Gpu | Place::Leaving))
                || one.driver.as_ref().is_some_and(|driver| driver.has_in_hand(page))
        };
        paging.gpus.get(paging.concerned(gpu))?.iter().find(has).or_else(|| paging.gpus.get(gpu))
    }
}

/// The drivers of the other GPUs.
fn others(paging: &mut Paging, gpu: usize) -> impl Iterator<Item = &mut Driver> {
    let others = paging.gpus.iter_mut().enumerate().filter(move |(other, _)| *other != gpu);
    others.filter_map(|(_, one)| one.driver.as_mut())
}

#[cfg(test)]
mod tests {
    use crate::machine::sample::working;
    use crate::model::access::AccessKind::{Load, Store};
    use crate::model::address::Address;
    use crate::model::inspect::Inspect;

    const MACHINE: &str = "tiny/numa-2socket-paged";

    #[test]
    fn a_page_comes_once_to_whoever_far_faults_first_and_goes_to_the_next_after_its_eviction() {
        let work = [("gpu0.cu0", Store, vec![0x1000]), ("gpu1.cu0", Load, vec![0x1040, 0x1080])];
        let mut machine = working(MACHINE, &[], &work);
        machine.run_until(u64::MAX);
        assert!(machine.is_finished());
        let sheet = machine.statistics();
        let count = |key: &str| sheet.iter().find(|(name, _)| name == key).unwrap().1;
        assert!((count("paging.demanded") - 1.0).abs() < f64::EPSILON);
        assert!((count("paging.far_faults") - 2.0).abs() < f64::EPSILON, "each socket has raised one");
        assert_eq!(machine.homes.of(Address(0x1000)), 0);
        assert_eq!(machine.view_pages(8).iter().map(|gpu| gpu.counts[9]).collect::<Vec<_>>(), [0, 1]);

        let pages = (1..=4).map(|page| page * 0x1000).collect();
        let mut machine = working(MACHINE, &[], &[("gpu0.cu0", Load, pages)]);
        machine.run_until(u64::MAX);
        let left = machine.view_homes(8).unwrap();
        let counts: Vec<u64> = left.homes.iter().map(|home| home.pages).collect();
        assert_eq!((counts, left.undecided), (vec![2, 0], 2), "two have been evicted, and have no home");
    }

    #[test]
    fn where_the_hardware_moves_data_each_gpu_far_faults_on_a_page_and_none_takes_it_from_another() {
        let pages = |unit| (unit, Load, vec![0x1000, 0x2000, 0x1040]);
        let work = [pages("gpu0.cu0"), pages("gpu1.cu0"), ("host.cpu0", Store, vec![0x1000, 0x2000])];
        let mut machine = working("tiny/umh-2gpu-paged", &[], &work);
        machine.run_until(u64::MAX);
        assert!(machine.is_finished());
        let counts = ["far_faults", "demanded", "taken_back", "bytes"];
        let counts = counts.map(|key| machine.statistic(&format!("paging.{key}")));
        assert_eq!(counts, [4.0, 4.0, 0.0, 0.0].map(Some));
    }

    #[test]
    fn where_the_placement_says_so_a_page_comes_to_a_socket_that_did_not_ask() {
        let work = [("gpu0.cu0", Load, vec![0x1000])];
        let mut machine = working(MACHINE, &["gpu.numa.placement=page"], &work);
        machine.run_until(u64::MAX);
        let held: Vec<String> =
            machine.view_pages(8).iter().map(crate::model::page_view::PagesView::room).collect();
        assert!(held[0].starts_with("0 of ") && held[1].starts_with("1 of "), "{held:?}");
    }
}
