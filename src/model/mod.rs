//! The vocabulary that every other module speaks: time, units, addresses, components, states, accesses,
//! messages, transactions, records and the views that inspection returns. Depends on nothing in the crate.

pub mod access;
pub mod address;
pub mod bits;
pub mod choice;
pub mod component;
pub mod cow;
pub mod fault;
pub mod inspect;
pub mod lanes;
pub mod level;
pub mod link_view;
pub mod lowest;
pub mod message;
pub mod operation;
pub mod number;
pub mod page;
pub mod page_view;
pub mod paging;
pub mod patch;
pub mod random;
pub mod recency;
pub mod record;
pub mod resource;
pub mod sectors;
pub mod selective;
pub mod sorted;
pub mod state;
pub mod tags;
pub mod text;
pub mod threads;
pub mod time;
pub mod units;
pub mod wait;
pub mod warp;
pub mod ways;
