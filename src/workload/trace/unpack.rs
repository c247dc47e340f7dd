//! Compressed files as the text that is in them, a piece at a time.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Most memory that an xz file may ask for, in KiB: `xz -9` asks for 65 MiB.
const XZ_MEMORY: u32 = 256 << 10;

/// Largest window of a zstd file: `zstd --ultra -22` and `--long` write up to this.
const ZSTD_WINDOW: u64 = 128 << 20;

/// Both limits, for those who compress again.
pub const MEMORY_LIMITS: &str =
    "a dictionary of xz of less than 256 MiB, or a window of zstd of at most 128 MiB (zstd --long=27)";

const BUFFER: usize = 1 << 18;

/// How a file is compressed, told from how it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    Plain,
    Xz,
    Zstd,
    /// Compressed in a way that is not read here.
    Foreign(&'static str),
}

impl Packing {
    pub fn of(head: &[u8]) -> Self {
        let starts: [(&[u8], Self); 6] = [
            (b"\xfd7zXZ\0", Self::Xz),
            (b"\x28\xb5\x2f\xfd", Self::Zstd),
            (b"\x1f\x8b", Self::Foreign("gzip")),
            (b"BZh", Self::Foreign("bzip2")),
            (b"\x04\x22\x4d\x18", Self::Foreign("lz4")),
            (b"PK\x03\x04", Self::Foreign("zip")),
        ];
        starts.iter().find(|(start, _)| head.starts_with(start)).map_or(Self::Plain, |(_, packing)| *packing)
    }
}

/// A file's name as it would be if the file were not compressed.
pub fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = name.strip_suffix(".xz").or_else(|| name.strip_suffix(".zst"));
    plain.unwrap_or(&name).to_owned()
}

/// The text in `packed`.
pub fn unpack<'a>(packed: impl BufRead + 'a, packing: Packing) -> Box<dyn BufRead + 'a> {
    match packing {
        Packing::Plain | Packing::Foreign(_) => Box::new(packed),
        Packing::Xz => {
            let reader = XzReader::new_mem_limit(packed, true, XZ_MEMORY);
            Box::new(BufReader::with_capacity(BUFFER, reader))
        }
        Packing::Zstd => Box::new(BufReader::with_capacity(BUFFER, Zstd::new(packed))),
    }
}

/// The frames of a zstd file, one after the other.
struct Zstd<R> {
    packed: R,
    decoder: FrameDecoder,
    /// A frame has been opened, and its end not been seen.
    inside: bool,
}

impl<R: BufRead> Zstd<R> {
    fn new(packed: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(ZSTD_WINDOW);
        Self { packed, decoder, inside: false }
    }

    /// Opens the next frame; false if there is none.
    fn open(&mut self) -> io::Result<bool> {
        while !self.packed.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.packed) {
                Ok(()) => {
                    self.inside = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.packed.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error @ FrameDecoderError::WindowSizeTooBig { .. }) => {
                    return Err(io::Error::new(io::ErrorKind::OutOfMemory, error));
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }

    /// The frame has been read to its end.
    fn close(&mut self) -> io::Result<()> {
        self.inside = false;
        let told = self.decoder.get_checksum_from_data();
        if told.is_some() && told != self.decoder.get_calculated_checksum() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum is wrong"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            if !self.inside && !self.open()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.packed, one).map_err(io::Error::other)?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            self.close()?;
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "a line of a trace\nand another line of a trace\n";
    const XZ: &[u8] = include_bytes!("../../../tests/data/packed/lines.xz");
    /// Two frames with a skippable one between them, each with its checksum.
    const ZST: &[u8] = include_bytes!("../../../tests/data/packed/lines.zst");

    fn text(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        unpack(bytes, Packing::of(bytes)).read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn packed_lines_are_read_as_they_were() {
        assert_eq!((Packing::of(XZ), Packing::of(ZST)), (Packing::Xz, Packing::Zstd));
        for bytes in [TEXT.as_bytes(), XZ, ZST] {
            assert_eq!(text(bytes).unwrap(), TEXT);
        }
        assert_eq!(Packing::of(b"\x1f\x8b\x08"), Packing::Foreign("gzip"));
    }

    #[test]
    fn a_window_that_is_too_large_is_no_damage() {
        // A frame header whose window is 2 GiB: no single segment, no checksum.
        let head = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3];
        assert_eq!(text(&head).unwrap_err().kind(), io::ErrorKind::OutOfMemory);
    }

    #[test]
    fn what_is_cut_off_anywhere_is_refused() {
        for cut in 6..XZ.len() {
            assert!(text(&XZ[..cut]).is_err(), "{cut}");
        }
        // Between two of its frames a zstd file may end.
        let whole = (4..ZST.len()).filter(|cut| text(&ZST[..*cut]).is_ok()).count();
        assert_eq!(whole, 2);
    }

    #[test]
    fn a_damaged_text_is_never_taken_for_a_whole_one() {
        for (bytes, from) in [(XZ, 6), (ZST, 4)] {
            for (at, bit) in (from..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                let mut damaged = bytes.to_vec();
                damaged[at] ^= 1 << bit;
                assert!(text(&damaged).map_or(true, |text| text == TEXT), "{at}.{bit}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_change_panics(xz: bool, at in 0usize..400, to: u8, cut in 0usize..400) {
            let mut bytes = if xz { XZ } else { ZST }.to_vec();
            if let Some(byte) = bytes.get_mut(at) {
                *byte = to;
            }
            bytes.truncate(cut);
            let _ = text(&bytes);
        }
    }
}
