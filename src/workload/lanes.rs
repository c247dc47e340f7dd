//! Lanes and their addresses in the shortest form.

use smallvec::SmallVec;

use crate::model::address::Address;
use crate::model::operation::Lanes;

/// The lanes below `count` (at most 64) for which `map` gives an address; `None` if there is none.
pub fn gather(count: u32, map: impl Fn(u32) -> Option<Address>) -> Option<Lanes> {
    stride(count, &map).or_else(|| list(count, map))
}

/// The lanes with equal steps from each to the next, if there are two of them at least.
fn stride(count: u32, map: impl Fn(u32) -> Option<Address>) -> Option<Lanes> {
    let mut all = (0..count.min(64)).filter_map(|lane| Some((lane, map(lane)?)));
    let ((first, start), (second, next)) = (all.next()?, all.next()?);
    let stride = (next.0.wrapping_sub(start.0) as i64).checked_div(i64::from(second - first))?;
    let at = |lane: u32, base: Address| base.0.wrapping_add(stride.wrapping_mul(i64::from(lane)) as u64);
    let base = Address(start.0.wrapping_sub(stride.wrapping_mul(i64::from(first)) as u64));
    let mut mask = 1u64 << first | 1 << second;
    if at(second, base) != next.0 {
        return None;
    }
    for (lane, address) in all {
        if at(lane, base) != address.0 {
            return None;
        }
        mask |= 1 << lane;
    }
    Some(Lanes::Strided { mask, base, stride })
}

fn list(count: u32, map: impl Fn(u32) -> Option<Address>) -> Option<Lanes> {
    let mut mask = 0u64;
    let mut addresses: SmallVec<[Address; 4]> = SmallVec::with_capacity(count.min(64) as usize);
    for lane in 0..count.min(64) {
        if let Some(address) = map(lane) {
            mask |= 1 << lane;
            addresses.push(address);
        }
    }
    (mask != 0).then(|| compact(mask, addresses))
}

/// Equal steps from lane to lane as a stride, anything else as a list.
pub fn compact(mask: u64, addresses: SmallVec<[Address; 4]>) -> Lanes {
    let first = addresses.first().map_or(0, |address| address.0);
    let low = mask.trailing_zeros();
    let rest = mask & mask.wrapping_sub(1);
    let stride = match addresses.get(1) {
        Some(second) => {
            let gap = i64::from(rest.trailing_zeros().saturating_sub(low).max(1));
            (second.0.wrapping_sub(first) as i64).checked_div(gap).unwrap_or(0)
        }
        None => 0,
    };
    let base = Address(first.wrapping_sub(stride.wrapping_mul(i64::from(low)) as u64));
    let strided = Lanes::Strided { mask, base, stride };
    if strided.iter().map(|(_, address)| address).eq(addresses.iter().copied()) {
        strided
    } else {
        Lanes::Listed { mask, addresses }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_strided_only_if_they_are() {
        let maps: [&dyn Fn(u32) -> Option<Address>; 4] = [
            &|lane| Some(Address(100 + 4 * u64::from(lane))),
            &|lane| (lane % 3 == 1).then(|| Address(1000 - 8 * u64::from(lane))),
            &|lane| Some(Address(u64::from(lane) * u64::from(lane))),
            &|lane| (lane == 5).then_some(Address(7)),
        ];
        for (nth, map) in maps.into_iter().enumerate() {
            let lanes = gather(8, map).unwrap();
            let expected: Vec<_> = (0..8).filter_map(|lane| Some((lane, map(lane)?))).collect();
            assert_eq!(lanes.iter().collect::<Vec<_>>(), expected);
            assert_eq!(matches!(lanes, Lanes::Listed { .. }), nth == 2);
        }
        assert!(gather(8, |_| None).is_none());
    }
}
