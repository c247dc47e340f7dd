//! GPU memory that is a cache with its tags in DRAM.

use super::super::check::Known;
use super::super::document::At;
use super::super::fail;
use super::super::machine::{CacheSpec, DramSpec, GpuHome, GpuMemorySpec, TagSpec};
use super::super::machine_file::GpuFile;
use super::super::machine_file::tags::TagsFile;
use super::{Build, KIB};
use crate::diagnostic::Result;
use crate::model::units::Size;

impl Build<'_> {
    /// The tags of a GPU's memory, if it has any; it is one GPU.
    pub(super) fn tags(
        &self,
        gpu: &GpuFile,
        memory: &GpuMemorySpec,
        count: u32,
        caches: (&mut CacheSpec, &mut CacheSpec),
    ) -> Result<Option<TagSpec>> {
        let document = self.check.document;
        if memory.home != GpuHome::Cache {
            let message = "gpu.tags without gpu.memory.home = \"cache\": there is no memory that is a cache";
            return match gpu.tags {
                Some(_) => fail(
                    document
                        .complain_about("gpu.tags", message)
                        .expected("gpu.memory.home = \"cache\" with it"),
                ),
                None => Ok(None),
            };
        }
        if count > 1 {
            let span = gpu.count.as_ref().map(|count| &count.span);
            let message = "gpu.memory.home = \"cache\" is for one GPU";
            return fail(document.complain(span, message).expected("gpu.count = 1"));
        }
        let hash = gpu.memory.as_ref().and_then(|memory| memory.dram.as_ref()?.hash.as_ref());
        if let Some(hash) = hash.filter(|hash| hash.value) {
            let message =
                "gpu.memory.dram.hash is for memories without tags, which take banks from the others";
            return fail(
                document
                    .complain(Some(&hash.span), message)
                    .expected("false, with gpu.memory.home = \"cache\""),
            );
        }
        let file = gpu.tags.clone().unwrap_or_default();
        self.tags_of(&file, memory, caches).map(Some)
    }

    /// What a file says about tags. Caches above them that name no protocol of their own get one that suits it.
    fn tags_of(
        &self,
        file: &TagsFile,
        memory: &GpuMemorySpec,
        (l1, l2): (&mut CacheSpec, &mut CacheSpec),
    ) -> Result<TagSpec> {
        let check = self.check;
        let data = self.tag_data(file, &memory.dram)?;
        let most = (memory.dram.banks - 1).max(1);
        let banks = check.count("gpu.tags.banks", file.banks.as_ref(), 1, 1..=most)?;
        if memory.dram.banks < 2 {
            let message = "gpu.memory.dram.banks is 1, and tags need another";
            let complaint = check.document.complain_about("gpu.memory.dram.banks", message);
            return fail(complaint.expected("2 banks or more"));
        }
        for cache in [l1, l2] {
            cache.protocol.get_or_insert_with(|| "scale-gpu".to_owned());
        }
        Ok(TagSpec {
            data: data.value as u32,
            share: check.thousandths("gpu.tags.share", file.share.as_ref())?,
            banks,
            pending: check.count("gpu.tags.pending", file.pending.as_ref(), 32, 1..=4096)?,
            scoreboard: check.count("gpu.tags.scoreboard", file.scoreboard.as_ref(), 32, 1..=4096)?,
            protocol: self.protocol(file.protocol.as_ref())?.unwrap_or_else(|| "scale-memory".to_owned()),
        })
    }

    /// That a memory is a number of rows. It is direct-mapped: its ways.
    pub(super) fn rows(&self, size: &Known, ways: Option<&At<u64>>, dram: &DramSpec) -> Result<u32> {
        let document = self.check.document;
        if let Some(given) = ways.filter(|given| given.value != 1) {
            let message = format!("gpu.memory.ways is {}, and tags in DRAM are direct-mapped", given.value);
            return fail(document.complain(Some(&given.span), message).expected("1, or no such key"));
        }
        let row = Size(u64::from(dram.row));
        if !size.value.is_multiple_of(row.0) {
            let message = format!("gpu.memory.size is {}, no multiple of its rows", Size(size.value));
            return fail(
                document.complain(size.span.as_ref(), message).expected(format!("a multiple of {row}")),
            );
        }
        Ok(1)
    }

    /// Bytes that a tag stands for: a row or a part of one.
    pub(super) fn tag_data(&self, file: &TagsFile, dram: &DramSpec) -> Result<Known> {
        let check = self.check;
        let row = u64::from(dram.row);
        let data = check.power("gpu.tags.data", file.data.as_ref(), row.min(16 * KIB), 64..=16 * KIB)?;
        check
            .at_most(("gpu.tags.data", &data), ("gpu.memory.dram.row", &Known { value: row, span: None }))?;
        Ok(data)
    }
}
