//! The help: generated from the keymap and the command table.

use crate::debug::frame::session::CommandInfo;
use crate::model::page_view::PageStand;
use crate::model::paging::Permission;
use crate::model::warp::WarpState;

use super::canvas::wrap;
use super::keymap::{Binding, Keymap};
use super::theme::Role;

/// Groups of keys and their titles, in order.
const GROUPS: [(&str, &str); 4] = [
    ("time", "Time: lower case forward, upper case back; digits before a key are a count"),
    ("ask", "Ask, break, mark"),
    ("screen", "Screen"),
    ("move", "Move"),
];

/// What the signs on the screen mean, pane by pane.
const SIGNS: [(&str, &str); 10] = [
    (
        "states",
        "M modified, O owned, E exclusive, S shared, N non-coherent, I invalid, V valid, . not held\n\
         D dirty, P only some bytes (of a memory that caches the host's: the host has them, too), C another block in \
         its place\n\
         I>S has I and asks for S, or better; S* changed just now; <E was E before; S… busy serving others; \
         ▸ the last event happened here",
    ),
    (
        "map",
        "{gpu0!,gpu1}: the home of the block and who holds it, ! the owner; short {0!,1} or {0!1}\n\
         cu0 m: its warp waits for memory; 3m: three do (letters as in the warps pane)\n\
         l1 [S][.]: a cell for each; out 4 %: how busy a link was in the last sample\n\
         ═▶ a message with data, ─▶ without; +2: and two more\n\
         ▼9 100%: nine lanes to the switch, all busy; ▲7 from it; ▼3>4 100%: three were, and now there \
         are four; where there is no room ▁▄█ for how busy, ! for saturated",
    ),
    (
        "directory",
        "dirty bytes: # all that a sign stands for, + some, - none, . not here; dirty values stand in brackets\n\
         bytes 0-3 8-11: which of the block are shown; a + after the signs: others are dirty, too\n\
         holders: gpu0! gpu1, ! the owner; short g0! g1; - nobody or nothing; in the list of blocks h: the home, where that keeps no states",
    ),
    (
        "links",
        "▶ or ◀ a lane; 26 % busy in the last sample, ▁▄█ over time; q 1/0/2: queued requests/probes/replies\n\
         b 1/8: used/size of the receivers' buffers, in the same order; without the sizes where there is little room, or q 3 b 1/8: all that is queued, \
         and the fullest buffer\n\
         lanes out 8877 in 899a: lanes in each sample and now, a is ten; use: how busy in it, ! saturated\n\
         then the last sample and what the balancer decided by it; the others are shown when they are selected\n\
         data 99 % of all bytes: how much of what crossed it was data, not headers; 1 of 4096 B at 100 %: one message \
         brought so much, and of its own bytes that share was data",
    ),
    (
        "log",
        "fetch ..#.: which sectors of the line, of 32 B each, it asks for; done + data ..#.: which it brings; without these signs all",
    ),
    (
        "timeline",
        "┃ here; t a state changes (early in the run), ◆ the lesson speaks, b a breakpoint stopped, • a bookmark, k a kernel is launched, y changed \
         from outside, ! an injected fault, ✗ a check failed; ▁▄█ where a sign stands for many events: probes. What was not run \
         yet is not known",
    ),
    (
        "waits",
        "what can never go on, #1 waiting for #2 and so on, the last for #1; else the oldest transactions in flight, \
         each with its chain of waiting",
    ),
    ("mshrs", "# in use, + was in use, - never; +3 joined: three others wait for the same answer"),
    (
        "protocol",
        "fetch>V 7: what is done, the state after it, and how often; what waited for a line uses its cell, too, when the line has come, so \
         that a hit of the table need not have been one of the cache\n\
         where there is little room >V 52k: only the state and a rounded count",
    ),
    (
        "caches",
        "a letter for each way, │ between sets, and before them the number of each where only those with blocks are shown; 128x4x64 B: sets, ways, bytes of a block; ev evicted, wb written back\n\
         found 12/40, 1 false: 3.4 %: what of the looks into a remote directory found its line, and how many of those for lines \
         that the CPU never had did",
    ),
];

/// The signs, and the letters of the warps.
fn signs() -> impl Iterator<Item = (&'static str, String)> {
    let letters = WarpState::ALL.map(|state| format!("{} {}", state.letter(), state.name()));
    let warps = ("warps", letters.join(", "));
    let stands = PageStand::ALL.map(|stand| format!("{} {}", stand.letter(), stand.name()));
    let permissions = Permission::ALL.map(|one| format!("{} {}", one.letter(), one.name()));
    let pages = format!(
        "{}; ▁▄█ below: how lately it was used; · a page between that nothing is told of, or the address of the next\nwhere pages are taken for read-only: {}",
        stands.join(", "),
        permissions.join(", ")
    );
    let pages = ("pages", pages);
    SIGNS.into_iter().map(|(pane, text)| (pane, text.to_owned())).chain([warps, pages])
}

/// All lines of the help.
#[must_use]
pub fn lines(keymap: &Keymap, commands: &[CommandInfo], width: u16) -> Vec<Vec<(String, Role)>> {
    let below = "The keys; below them what the signs on the screen mean, and the commands";
    let mut lines: Vec<_> = wrap(below, width).into_iter().map(|line| vec![(line, Role::Hint)]).collect();
    for (group, title) in GROUPS {
        let bindings: Vec<&Binding> = keymap
            .bindings
            .iter()
            .filter(|binding| binding.pane.is_none() && binding.group == group)
            .collect();
        section(&mut lines, title, &bindings, width);
    }
    let others: Vec<&Binding> = keymap
        .bindings
        .iter()
        .filter(|binding| binding.pane.is_some() || !GROUPS.iter().any(|(group, _)| *group == binding.group))
        .collect();
    section(&mut lines, "In one pane only", &others, width);
    lines.push(Vec::new());
    lines.push(vec![("Signs and letters".to_owned(), Role::Title)]);
    for (pane, text) in signs() {
        for (row, line) in wrap(&text, width.saturating_sub(12)).into_iter().enumerate() {
            let pane = if row == 0 { pane } else { "" };
            lines.push(vec![(format!("  {pane:<10}"), Role::Key), (line, Role::Text)]);
        }
    }
    if !commands.is_empty() {
        lines.push(Vec::new());
        lines.push(vec![("Commands, after a colon".to_owned(), Role::Title)]);
    }
    for command in commands {
        lines.push(vec![(command.usage.clone(), Role::Key)]);
        let aliases = if command.aliases.is_empty() {
            String::new()
        } else {
            format!(" (also {})", command.aliases.join(", "))
        };
        for line in wrap(&format!("{}{aliases}", command.about), width.saturating_sub(4)) {
            lines.push(vec![(format!("    {line}"), Role::Text)]);
        }
    }
    lines
}

/// One line a meaning: keys that do the same share it.
fn section(lines: &mut Vec<Vec<(String, Role)>>, title: &str, bindings: &[&Binding], width: u16) {
    if bindings.is_empty() {
        return;
    }
    lines.push(Vec::new());
    lines.extend(wrap(title, width).into_iter().map(|line| vec![(line, Role::Title)]));
    for (nth, binding) in bindings.iter().enumerate() {
        let same = |other: &&&Binding| other.does == binding.does && other.pane == binding.pane;
        if bindings.iter().take(nth).any(|other| same(&other)) {
            continue;
        }
        let keys: Vec<&str> = bindings.iter().filter(same).map(|other| other.name.as_str()).collect();
        let place = binding.pane.map_or(String::new(), |pane| format!("{}: ", pane.name()));
        let about = wrap(&format!("{place}{}", binding.about), width.saturating_sub(16));
        for (row, about) in about.into_iter().enumerate() {
            let keys = if row == 0 { keys.join("  ") } else { String::new() };
            lines.push(vec![(format!("  {keys:<14}"), Role::Key), (about, Role::Text)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_key_and_command() {
        let keymap = Keymap::embedded().unwrap();
        let command =
            CommandInfo { usage: "break QUERY".into(), about: "stop there".into(), ..Default::default() };
        let lines = lines(&keymap, &[command], 120);
        let text = lines.iter().flatten().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join("\n");
        for binding in &keymap.bindings {
            assert!(text.contains(&binding.name), "{} is missing", binding.name);
        }
        assert!(text.contains("break QUERY"));
        for pane in ["states", "map", "directory", "links", "mshrs", "warps", "caches", "pages"] {
            assert!(text.contains(&format!("\n  {pane} ")), "no signs of {pane}");
        }
        // Wherever its lines break.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for state in WarpState::ALL {
            assert!(text.contains(&format!("{} {}", state.letter(), state.name())), "no {state:?}");
        }
    }
}
