//! Reading a text file that may be missing, huge, binary or broken.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::write::reason;
use super::{Diagnostic, Result, Source};

/// The largest machine, protocol or scenario file that is read, in bytes.
pub const TEXT_LIMIT: u64 = 4 << 20;

/// Folder entries that are looked at for a name near to a missing file's.
const ENTRIES: usize = 10_000;

/// Reads a UTF-8 file of at most `limit` bytes.
///
/// # Errors
/// If it is missing (with the nearest name in its folder), a folder, a device, unreadable, larger than `limit`,
/// binary, or not UTF-8 (with the place).
pub fn read_text(path: &Path, limit: u64) -> Result<Source> {
    let name = path.display().to_string();
    let empty = Source::new(name.as_str(), "");

    let metadata = path.metadata().map_err(|error| Box::new(cannot_open(path, &empty, &error)))?;
    if metadata.is_dir() {
        return Err(Box::new(Diagnostic::new("this is a folder").of(&empty).expected("a file")));
    }
    if !metadata.is_file() {
        let error = Diagnostic::new("this is a pipe or a device, not a file").of(&empty);
        return Err(Box::new(error.expected("a file: what is piped can be written to one first")));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(limit.saturating_add(1)).read_to_end(&mut bytes))
        .map_err(|error| Box::new(cannot_open(path, &empty, &error)))?;
    if bytes.len() as u64 > limit {
        let message = format!("this file has {} bytes", metadata.len().max(bytes.len() as u64));
        return Err(Box::new(
            Diagnostic::new(message).of(&empty).expected(format!("a text of at most {limit} bytes")),
        ));
    }
    decode(&name, bytes)
}

/// Bytes as text, or why they are none.
fn decode(name: &str, bytes: Vec<u8>) -> Result<Source> {
    let error = match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => return Ok(Source::new(name, text)),
        Ok(_) => {
            let message = "this is a binary file";
            return Err(Box::new(
                Diagnostic::new(message).of(&Source::new(name, "")).expected("a text in UTF-8"),
            ));
        }
        Err(error) => error,
    };
    let bytes = error.as_bytes();
    if bytes.contains(&0) {
        let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
        let message = if utf16 { "this text is in UTF-16" } else { "this is a binary file" };
        return Err(Box::new(
            Diagnostic::new(message).of(&Source::new(name, "")).expected("a text in UTF-8"),
        ));
    }
    let valid = error.utf8_error().valid_up_to();
    let byte = bytes.get(valid).copied().unwrap_or(0);
    let source = Source::new(name, String::from_utf8_lossy(bytes));
    Err(Box::new(
        Diagnostic::new(format!("byte {byte:#04x} is not UTF-8"))
            .at(&source, valid..valid + char::REPLACEMENT_CHARACTER.len_utf8())
            .expected("a text in UTF-8"),
    ))
}

fn cannot_open(path: &Path, empty: &Source, error: &std::io::Error) -> Diagnostic {
    let message = match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "this file may not be read: permission denied".to_owned(),
        _ => format!("this file cannot be read: {}", reason(error)),
    };
    let diagnostic = Diagnostic::new(message).of(empty);
    if error.kind() == ErrorKind::NotFound { with_neighbour(diagnostic, path) } else { diagnostic }
}

/// Suggests the file or folder nearest in name, at the first step of the path that does not exist.
fn with_neighbour(diagnostic: Diagnostic, path: &Path) -> Diagnostic {
    let missing = path.ancestors().take_while(|step| !step.as_os_str().is_empty() && !step.exists()).last();
    let Some((missing, wanted)) = missing.and_then(|step| Some((step, step.file_name()?.to_string_lossy())))
    else {
        return diagnostic;
    };
    let folder = match missing.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut names: Vec<String> = folder
        .read_dir()
        .into_iter()
        .flatten()
        .take(ENTRIES)
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let Some(near) = super::nearest(&wanted, names.iter().map(String::as_str)) else { return diagnostic };
    let shown = missing.with_file_name(near).display().to_string();
    Diagnostic { suggestion: Some(format!("did you mean {shown}?")), ..diagnostic }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn complaint(name: &str, bytes: &[u8], limit: u64) -> Diagnostic {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        *read_text(&path, limit).unwrap_err()
    }

    #[test]
    fn a_missing_file_gets_the_nearest_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("fig5-b1.toml"), "").unwrap();
        let error = read_text(&folder.path().join("fig5-b2.toml"), 10).unwrap_err();
        assert!(error.suggestion.unwrap().ends_with("fig5-b1.toml?"));
        let error = read_text(&folder.path().join("elsewhere/x.toml"), 10).unwrap_err();
        assert_eq!(error.suggestion, None);
    }

    #[test]
    fn what_is_no_text_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_text(folder.path(), 10).unwrap_err().message, "this is a folder");
        assert_eq!(complaint("a", b"a\0b", 10).message, "this is a binary file");
        assert_eq!(complaint("a", b"\xff\xfea\0", 10).message, "this text is in UTF-16");
        assert_eq!(complaint("a", b"0123456789x", 10).message, "this file has 11 bytes");
        let latin1 = complaint("a", b"x = 1\nname = \"caf\xe9\"", 100);
        assert_eq!(latin1.position(), Some((2, 12)));
        assert!(latin1.to_string().contains("name = \"caf\u{fffd}\""), "{latin1}");
    }

    #[test]
    fn a_text_at_the_limit_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "0123456789").unwrap();
        assert_eq!(&*read_text(&path, 10).unwrap().text, "0123456789");
    }
}
