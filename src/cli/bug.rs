//! What happens when the program itself is wrong: a short report, how to hand it on, and a status of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};

use color_eyre::config::{HookBuilder, Theme};

use super::exit::Status;

/// Has every panic make a short report on standard error.
pub fn install() {
    let hook = HookBuilder::default()
        .theme(Theme::new())
        .display_env_section(false)
        .panic_section(advice())
        .try_into_hooks();
    if let Ok((panic, _)) = hook {
        panic.install();
    }
}

/// How to hand a report on.
fn advice() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let arguments: Vec<_> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    format!(
        "This is a bug in umscope {version}, not in your input. Please report it with this text, the command\n\
         `umscope {}`\nand the files that it names. RUST_BACKTRACE=1 adds where it happened.",
        arguments.join(" ")
    )
}

/// What `work` comes to; a panic in it is a bug.
pub fn guarded(work: impl FnOnce() -> Status) -> Status {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Status::Bug)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_has_a_status_of_its_own() {
        assert_eq!(guarded(|| panic!("wrong")).code(), 70);
        assert_eq!(guarded(|| Status::Failed), Status::Failed);
    }
}
