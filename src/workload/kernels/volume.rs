//! Boxes of cells in space, and what lies around a cell.

/// A box of `edges[0]` x `edges[1]` x `edges[2]` cells, the first varying fastest in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume {
    pub edges: [u64; 3],
}

/// The six neighbours that share a face: west, east, south, north, below, above.
pub const FACES: [[i64; 3]; 6] = [[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]];

/// The n-th of the 27 cells of the cube around a cell; 13 is the cell itself.
pub const fn around(nth: u64) -> [i64; 3] {
    [(nth % 3) as i64 - 1, (nth / 3 % 3) as i64 - 1, (nth / 9 % 3) as i64 - 1]
}

/// The cells around a place.
#[derive(Clone, Copy, Debug)]
pub struct Near {
    first: [u64; 3],
    cells: Volume,
}

impl Near {
    /// How many they are.
    pub fn count(&self) -> u64 {
        self.cells.cells()
    }

    /// The n-th of them, as a place in the volume.
    pub fn place(&self, nth: u64) -> Option<[u64; 3]> {
        let [x, y, z] = self.first;
        let [dx, dy, dz] = self.cells.place(nth);
        (nth < self.count()).then_some([x + dx, y + dy, z + dz])
    }

    /// Which of them is at a place.
    pub fn number(&self, [x, y, z]: [u64; 3]) -> u64 {
        let [left, front, below] = self.first;
        self.cells.cell([x - left, y - front, z - below])
    }
}

impl Volume {
    pub fn cells(&self) -> u64 {
        self.edges.iter().product()
    }

    /// The number of the cell at a place.
    pub fn cell(&self, [x, y, z]: [u64; 3]) -> u64 {
        let [across, up, _] = self.edges;
        (z * up + y) * across + x
    }

    /// The place of a cell.
    pub fn place(&self, cell: u64) -> [u64; 3] {
        let [across, up, _] = self.edges;
        [cell % across, cell / across % up, cell / across / up]
    }

    /// The cell so many cells away, if it is in the box.
    pub fn shifted(&self, place: [u64; 3], by: [i64; 3]) -> Option<u64> {
        let mut moved = place;
        for ((place, by), edge) in moved.iter_mut().zip(by).zip(self.edges) {
            *place = place.checked_add_signed(by).filter(|place| *place < edge)?;
        }
        Some(self.cell(moved))
    }

    /// The box of the cells around a place, itself among them, and where it begins: 27 cells, or fewer at a face.
    pub fn near(&self, place: [u64; 3]) -> Near {
        let [mut first, mut edges] = [[0; 3]; 2];
        for (axis, (at, edge)) in place.into_iter().zip(self.edges).enumerate() {
            first[axis] = at.saturating_sub(1);
            edges[axis] = (at + 2).min(edge) - first[axis];
        }
        Near { first, cells: Self { edges } }
    }

    /// The cell so many cells away, where each face of the box leads to the opposite one.
    pub fn wrapped(&self, place: [u64; 3], by: [i64; 3]) -> u64 {
        let mut moved = place;
        for ((place, by), edge) in moved.iter_mut().zip(by).zip(self.edges) {
            *place = (*place as i64 + by).rem_euclid(edge.max(1) as i64) as u64;
        }
        self.cell(moved)
    }

    /// The nearest cell in the box to the one so many cells away.
    pub fn clamped(&self, place: [u64; 3], by: [i64; 3]) -> u64 {
        let mut moved = place;
        for ((place, by), edge) in moved.iter_mut().zip(by).zip(self.edges) {
            *place = place.saturating_add_signed(by).min(edge.saturating_sub(1));
        }
        self.cell(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_places_and_neighbours() {
        let volume = Volume { edges: [4, 3, 2] };
        assert_eq!(volume.cells(), 24);
        assert!((0..24).all(|cell| volume.cell(volume.place(cell)) == cell));
        assert_eq!(volume.place(17), [1, 1, 1]);
        assert_eq!(volume.shifted([1, 1, 1], [0, 1, -1]), Some(9));
        assert_eq!(volume.shifted([3, 0, 0], [1, 0, 0]), None);
        assert_eq!(volume.wrapped([3, 0, 0], [1, -1, -1]), 12 + 8);
        assert_eq!(volume.clamped([3, 0, 1], [4, -4, -4]), 3);
        let near = volume.near([3, 1, 0]);
        let places: Vec<_> = (0..99).map_while(|nth| near.place(nth)).collect();
        assert_eq!((near.count(), places.len()), (2 * 3 * 2, 2 * 3 * 2));
        assert_eq!((places[0], places[11]), ([2, 0, 0], [3, 2, 1]));
        assert!((0..).zip(&places).all(|(nth, place)| near.number(*place) == nth));
        assert_eq!(around(13), [0; 3]);
        assert_eq!((around(0), around(26)), ([-1; 3], [1; 3]));
    }
}
