//! `umscope run`: to the end without a screen, with statistics.

mod onlookers;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use super::arguments::{Format, Target, positive};
use super::destination;
use super::diagnosis;
use super::drive::{drive, drive_unseen};
use super::exit::{Ended, Status, Trouble, say};
use super::interrupt::Interrupt;
use super::output::Output;
use super::outputs::{Outputs, Replaces};
use super::record::Recorder;
use super::work::{self, Work};
use crate::config::machine::MachineSpec;
use crate::debug::diagnosis::Diagnosis;
use crate::debug::latency::{Spent, Trail};
use crate::diagnostic::Diagnostic;
use crate::machine::Machine;
use crate::model::inspect::Inspect;
use crate::query::Text;
use crate::report::series::Wanted;
use crate::report::summary::{self, Heading};
use crate::report::{self, Run as Done};
use crate::scenario::{self, Prepared, Report};
use crate::workload::suites;
use onlookers::{Onlookers, Sampler};

/// Run a scenario or a trace to its end and print statistics
///
/// Expectations and the protocol's rules are checked on the way. Times are in GPU core cycles unless a unit is named,
/// amounts in bytes.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  umscope run umh/fig5-b1
  umscope run mine.toml --set gpu.l1.ways=4 --format json | jq .stats
  umscope run traces/vectoradd --machine umh-4gpu-pcie
  umscope run mine.toml --sample 1000 > series.csv
  umscope run mine.toml --sample 1000 --interval --columns '*.l2.*.hits' > hits.csv
  umscope run mine.toml --waits
  umscope run mine.toml --break 'transition at gpu0 to M'
  umscope run mine.toml --record mine.rec

JSON: scenario, machine, set{what was other than its machine alone says, as --set names it}, seed, cycles, events, accesses, digest (16 hex digits), wall_seconds, \
prepare_seconds (reading and building), \
events_per_second, peak_memory_bytes, passed, ended (finished, deadlock, violation, limit, interrupted or \
break), expectations, failures[{message, cycle, event, line, expectation}], diagnosis (why it could not go on: verdict (deadlock, \
lost-message, lost-wake-up, livelock, starvation, slow or unknown), event, cycle, complete, circle, transactions[], \
waits[{who, waits, for, since_cycle, block, transaction, event, record}], unavoidable{event, cycle, first}, avoidable, others, notes[]), blame (what the tables decided of the block of which a rule is broken, the latest first, \
with the lines of their files: lines of text; null in runs of more than five million events), stopped_at (a record as `umscope log` prints \
it, null where none was made; ended tells that it stopped), resources[{name, count (of components that have them), utilisation (mean, 0 to 1), busiest, busiest_at, queued_mean_cycles}] (what accesses compete for, \
the busiest first: ports, buses and banks of memories, links, crossbars, page walkers, SIMD units; then MSHRs, which hold who waits), waits (with --waits, \
of the accesses that did not end at once: accesses, cycles (whole ones of each, rounded down), max_cycles, sums[{for (as info latency names it), cycles, share, accesses (that waited for it), \
places[{at, cycles, accesses}]}]), tasks{who did each: a launch, a core or unit, or a flush} and stats{flat dotted keys}; null for what is unknown.

Keys of stats, by pattern (all times in cycles, all *_share and *_rate from 0 to 1, but coherence_share):
  cycles, events, accesses (issued; access.* has those that were performed), work_cycles (until all is at rest, replies to the last access and what is copied back included; where a prefetcher may bring pages later, until the last task ended), violations (checks that \
failed)
  warp_cycles.STATE, warp_share.STATE   of all warp slots, GPUn.* of a GPU (host.* of the cores), and warp_cycles of \
each unit; STATE: none ready running (computes) memory (hits in the L1, too) mshr_full link_full barrier fence translation far_fault protection_fault tlb_blocked simd_full done. Shares are of the time with work, \
without none and done. Of compute units with fewer SIMD units than wavefronts: UNIT.simd_utilisation, UNIT.simd_queued_mean_cycles (that a warp waited for one)
  access.LEVEL.count, .share, .mean_cycles, .time_share, .merged, .probed   by the farthest place that got a request \
of an access: l1 (a hit), joined (a miss under way in its L1), l2, llc, client (the CPU-side \
cache for a GPU), smd, memory (a GPU's own), far_l2 and far_memory (of another socket), hmd, peer (another GPU handed the data over). Merged: waited there for a miss under way; probed: other caches were asked
  access.KIND.count, .mean_cycles, .p50_cycles (so many of a hundred took no longer, within 6 %), .p90_cycles, \
.p99_cycles, .max_cycles, .LEVEL.count, .LEVEL.mean_cycles   KIND: load store n_store atomic, and exclusive (the request \
of dynamic synchronisation). From issue to its L1, which follows translation and far-faults, until performed; what those take is in \
warp_cycles.STATE and paging.*
  NODE.*, levels.LEVEL.*   hits misses (with those that joined one) hit_rate merges evictions recalls writebacks probes (sent to children) \
probed (probes that came from the parent) lost (blocks that these or a flush took away) merged_bytes peer_transfers (ordered here, or handed over from here: each counts at both) promotions mshr_full (requests that found none free; of an L1 each try of a warp) mshr_high_water mshr_mean (in use, over time, a node) port_utilisation (of its ports, the share of time \
that they were busy with a message) port_queued_mean_cycles (that a message waited for one); LEVEL: gpu_l1 l2 smd \
memory cpu_l1 llc client hmd
  messages.TYPE.count, .bytes; LINK.messages.TYPE.count, .bytes   sent anywhere, those too whose data are still read from memory, of the sizes that messages have; over a link of the network, as that carries them, padded (network.granularity) and with the headers of their packets (network.payload) (TYPE has _ where its name has -: grant_ack). Pages and copies are no messages: only LINK.bytes has them
  LINK.bytes, .messages (of what has been given to it, though it may still wait for the wire or be on its way at a cut or sample; so do energy and queued_cycles, and may be more than it can carry in an interval), .utilisation (of the time until now alone), .efficiency (the share of data in its bytes), .queued_cycles, .queued_mean_cycles (for the wire), .no_credit_cycles (for \
a buffer at the other end)
  LINK.data_bytes, .coherence_bytes, .coherence_share; network.*   data without headers; messages that are neither \
requests nor carry data; the second over the first, which may be more than 1 (UMH, section 6.1.4). network.* counts once what \
goes through a switch, over two links
  MEMORY.dram.*, levels.LEVEL.dram.*   row_hits row_misses row_conflicts row_reopens (under always_reopen, as the memory of SMDs; of all these \
each bank's piece of a request counts) row_hit_rate reads writes (requests) bytes (of what has been asked for, though it may still have to be moved at the end) queue_high_water (most pieces that waited \
for an fr-fcfs controller, also beyond its queue; none in order) busy_cycles (of the data buses, summed over channels, and of a level over memories)
  sync.*   fence_cycles barrier_cycles spin_cycles exclusive_accesses exclusive_cycles flush_cycles flush_bytes (of a memory with tags, what any boundary wrote back, too)
  tasks.ID.cycles, .accesses (performed), .l1_share (of them, hits in their own L1), .mean_cycles (of an access)   programs, \
kernels, copies and flushes, each by itself
  launches.count, .cycles   kernels launched, and what the launches themselves took, before their first blocks; .flush_cycles \
.flush_bytes (what kernels before have stored non-coherently, written back before the next: at every level, in whole blocks)
  network.energy_joules, .power_watts   of the network as of network.*; network.samples, .lane_reversals, .lane_reversal_cycles (of one \
lane, while the link quiesced and it turned), LINK.lanes, .lanes_gained   where lanes can turn
  paging.*   tlb.hit_rate (of all look-ups: hits, misses and merges) tlb.hits tlb.misses tlb.merges (accesses that joined a miss, which no miss counts) tlb.shoot_downs walks far_fault_mshrs.most (of a GPU) far_faults faults.STAGE (requests of compute units that were merged, dropped, nacked and replayed); pages: demanded prefetched \
copied copied_back prefetched_used prefetched_unused (so far) prefetched_wasted (gone unused) evicted taken_back (by cores or another GPU) written_back thrashed \
(evicted and wanted again); bytes (of the pages that moved; of those that leave, as of written_back, once they are at the host)
  numa.*   gpuN.local_requests gpuN.remote_requests (misses and stores of its L1s, with those that joined a miss under way) gpuN.pages (at home there, of those that the work names) remote_share \
l2.local_hit_rate l2.remote_hit_rate l1.remote_way_share l2.remote_way_share (of their ways, now; gpuN.l1.remote_way_share and so on of a socket) way_samples (of partitioned caches, with gpuN. of a socket, and so way_moves) way_moves.to_remote way_moves.to_local way_moves.equalise (samples that moved a way) invalidated (lines, by software coherence) released_bytes
  coalescing.*   loads (whose lines may not be kept) requests.l1 requests.l2 (sent for them) share (of the loads spared \
by L1s and L2s) line_use (of the sectors that came to the GPU from the memory of the CPU, those that somebody waited for) sector_misses.l1 sector_misses.l2 (fetches for lines that were here without the \
sector, of caches that keep lines and take sectors)
  remote_directory.*   lines (that the CPU may have) peak capacity looks found nacks false_positives \
false_positive_rate (of looks for lines that the CPU never had) flushes inserted (lines) moved (fingerprints, to make room)
  read_only.*   faults.cores faults.gpus faults.STAGE (as of paging.*) changed (pages that may be written now) gave_up (1: no page is taken for \
read-only any more)
  tags.*   hit cold_miss conflict_miss merge arrival replay replays_missed (missed again; others hit then, or are relayed) relay both write_back full (found no room) too_old (came without a write that went past them, and were fetched again) first_hits \
hit_rate (of first look-ups) pending_high_water scoreboard_high_water
  copies.to_gpu.*, copies.to_host.*   transfers pages bytes cycles (that tasks waited) redundant (pages not used so far where \
they came, or come back unchanged: only these have records)

Rows of --sample: how it is when each multiple of CYCLES begins, and one of the end. Columns: cycle, event, the \
counters so far (the keys of stats, such as gpu0.l2.0.misses and messages.read.count; of the first 100 tasks, whose \
columns are empty before there is something to tell, tasks.ID.cycles and so on), then for each node the \
MSHRs in use now (NODE.mshrs_used), the warps by state now (gpu0.warps.memory), and for each link the bytes and the \
share of time it was busy since the last row (LINK.interval.bytes, LINK.interval.utilisation). --columns chooses \
of them, and with --interval they count since the last row. With --format json \
standard output is the document alone, so --sample needs --sample-to.

Exit status: 0 all held, or --break stopped it before anything failed; 1 an expectation or a check failed, \
or there was a deadlock that the scenario does not expect; 2 wrong input; 130 interrupted by ctrl-c (what is \
known so far is printed; a second ctrl-c ends at once).")]
pub struct Run {
    #[command(flatten)]
    target: Target,

    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// With text, print every statistic, not only the summary
    #[arg(long)]
    stats: bool,

    /// Tell what accesses waited for: each of them last at each moment, from its issue (or its warp's wait for a translation or
    /// page before that) to its end. Slower, since all that happens is looked at
    #[arg(long)]
    waits: bool,

    /// Write a row of statistics every so many cycles, as CSV: to --sample-to, or else to standard output, and the
    /// summary to standard error
    #[arg(long, value_name = "CYCLES", value_parser = positive, allow_negative_numbers = true)]
    sample: Option<u64>,

    /// Where --sample writes, while the run goes on; - is standard output, and a file that is there is replaced
    #[arg(long, value_name = "FILE", requires = "sample", alias = "sample-file")]
    sample_to: Option<PathBuf>,

    /// Only these columns of --sample, with * for any part of a name; cycle and event are there in any case
    #[arg(long, value_name = "NAME", requires = "sample", value_delimiter = ',')]
    columns: Vec<String>,

    /// Rows of --sample count what has happened since the row before, and not since the start. Mean cycles of accesses are of the same
    /// time; other means, shares and high-water marks are left out. What is a number of that moment stays one, such as MSHRs in
    /// use, lanes of a link, pages at home and copies of which nothing has been used so far
    #[arg(long, requires = "sample")]
    interval: bool,

    /// Write the wait-for graph of a run that could not go on, for Graphviz; an earlier graph is replaced
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,

    /// Write a recording of the run, which `replay` checks and `debug` opens; a recording that is there is replaced
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Stop at the first record (or moment) that matches, and print it with its position
    #[arg(long = "break", value_name = "QUERY")]
    stop: Option<String>,
}

impl Run {
    pub fn carry_out(&self) -> Ended {
        let begin = Instant::now();
        let interrupt = Interrupt::install()?;
        let work = self.open(&interrupt)?;
        let prepared = work.prepare()?;
        work::tell_left_out(prepared.left_out.as_deref());
        let begun = prepared.machine.clone();
        let (seed, workload) = (prepared.blueprint.seed, prepared.blueprint.workload.clone());
        let machine = work.machine_name(&prepared);
        let about = about(&machine, &prepared.blueprint.spec);
        let mut onlookers = self.onlookers(&work, &prepared)?;
        let listen = onlookers.listens() || prepared.blueprint.checks;
        let mut runner = work.runner(prepared, listen);
        let prepare_seconds = begin.elapsed().as_secs_f64();
        let start = Instant::now();
        let report = if onlookers.is_none() {
            drive_unseen(&mut runner, &work.name, &interrupt)
        } else {
            drive(&mut runner, &work.name, &interrupt, |machine, records| onlookers.look(machine, records))?
        };
        let wall_seconds = start.elapsed().as_secs_f64();
        // Who has seen enough of the samples wants no summary either.
        if onlookers.is_closed() {
            return Ok(Status::Held);
        }
        work::trusted(&workload)?;
        let seen = onlookers.end(&runner, &report)?;
        let diagnosis = diagnosis::of(&report, runner.machine(), &begun, &interrupt);
        self.draw(diagnosis.as_ref(), runner.machine())?;
        let done = Done {
            blame: diagnosis::blame(&work, runner.machine(), &begun, diagnosis.as_ref()),
            diagnosis,
            scenario: work.name.clone(),
            machine,
            set: work.scenario.set_of_machine(&work.options),
            set_by_hand: work.scenario.set_by_hand(&work.options),
            seed,
            tasks: report::tasks(runner.machine()),
            statistics: runner.machine().statistics(),
            resources: runner.machine().resources(),
            waits: seen.spent.map(|spent| spent.waits(begun.components())),
            wall_seconds,
            prepare_seconds,
            peak_memory_bytes: peak_memory(),
            stopped_at: seen.stopped,
            report,
        };
        self.print(&done, &work, runner.machine(), &about, seen.vain)?;
        if interrupt.is_raised() {
            return Ok(Status::Interrupted);
        }
        Ok(status(&done.report, done.stopped_at.is_some()))
    }

    /// Opens what is to run, once it is sure that no two of its files are the same.
    fn open(&self, interrupt: &Interrupt) -> Result<Work, Trouble> {
        if self.samples_to_output() && self.format == Format::Json {
            let wrong = Diagnostic::new("--sample and --format json both write to standard output");
            return Err(wrong.expected("--sample-to FILE").into());
        }
        self.outputs().apart()?;
        let work = Work::open(&self.target, interrupt)?;
        work::doubt(&work.scenario, &work.options);
        Ok(work)
    }

    fn outputs(&self) -> Outputs<'_> {
        Outputs::default()
            .with("--sample-to", self.sample_file(), Replaces::Samples)
            .with("--dot", self.dot.as_deref(), Replaces::Graphs)
            .with("--record", self.record.as_deref(), Replaces::Recordings)
    }

    fn onlookers(&self, work: &Work, prepared: &Prepared) -> Result<Onlookers, Trouble> {
        let stop = self.stop.as_ref().map(|query| onlookers::stop(&Text::new("--break", query), prepared));
        let stop = stop.transpose()?.flatten();
        // Before anything is written, so that a refusal leaves all as it was.
        self.outputs().check(|| work.reads())?;
        let wanted = Wanted { patterns: self.columns.clone(), interval: self.interval };
        let begin = |every| Sampler::begin(&prepared.machine, (every, &wanted), self.sample_file());
        let sampler = self.sample.map(begin);
        let sampler = sampler.transpose()?;
        let recorder = self.record.as_ref().map(|path| Recorder::begin(path, work));
        Ok(Onlookers {
            sampler,
            recorder: recorder.transpose()?,
            trail: self
                .waits
                .then(|| (Trail::new(prepared.machine.time_base()).taking_apart(), Spent::default())),
            stop,
            stopped: None,
        })
    }

    /// Writes the wait-for graph, if it is wanted and there is one.
    fn draw(&self, diagnosis: Option<&Diagnosis>, machine: &Machine) -> Result<(), Trouble> {
        match (&self.dot, diagnosis) {
            (Some(path), Some(diagnosis)) => Ok(diagnosis::write_dot(path, diagnosis, machine)?),
            // One of an earlier run may be there.
            (Some(path), None) => {
                say(format_args!("nothing waits for ever: {} is not written", path.display()));
                Ok(())
            }
            (None, _) => Ok(()),
        }
    }

    /// `vain` is why `--break` could match nothing.
    fn print(
        &self,
        done: &Done,
        work: &Work,
        machine: &Machine,
        about: &str,
        vain: Option<String>,
    ) -> Result<(), Trouble> {
        let mut output = Output::standard();
        if self.format == Format::Json {
            return output.json(&report::json::run(done));
        }
        let file = work.scenario.file();
        let about_work = work.scenario.about().filter(|_| suites::scenario(&work.name, None).is_some());
        let heading = Heading {
            title: work.scenario.title(),
            source: file.source.as_deref(),
            about: about_work.as_deref(),
            file: &work.scenario.source().name,
            about_machine: about,
        };
        let mut text = summary::text(done, machine, heading);
        if self.stop.is_some() && done.stopped_at.is_none() {
            text.push_str(&format!("--break matched nothing{}\n", work::because(vain)));
        }
        if self.stats {
            text.push('\n');
            let width = done.statistics.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
            for (key, value) in &done.statistics {
                let value = if value.is_finite() { value.to_string() } else { "-".to_owned() };
                text.push_str(&format!("{key:width$}  {value}\n"));
            }
        }
        if self.samples_to_output() {
            say(text.trim_end());
            return Ok(());
        }
        output.put(&text)
    }

    /// The file that --sample writes; none for standard output.
    fn sample_file(&self) -> Option<&Path> {
        destination::file(self.sample_to.as_deref())
    }

    fn samples_to_output(&self) -> bool {
        self.sample.is_some() && self.sample_file().is_none()
    }
}

/// The machine in words; one that is written in the scenario has no other name than its own.
fn about(machine: &str, spec: &MachineSpec) -> String {
    let name = if machine == spec.name { String::new() } else { format!("{}, ", spec.name) };
    name + &spec.protocol_names()
}

/// Says what failed.
pub fn say_failures(report: &Report) {
    for failure in &report.failures {
        say(format_args!("failed at event {}, cycle {}: {}", failure.event, failure.cycle, failure.message));
    }
}

/// The status that tells how a run went.
pub fn status(report: &Report, stopped: bool) -> Status {
    if !report.passed {
        Status::Failed
    } else if report.ended == scenario::Ended::Interrupted && !stopped {
        Status::Interrupted
    } else {
        Status::Held
    }
}

/// The most memory that this process has had, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
