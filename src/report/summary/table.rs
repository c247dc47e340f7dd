//! A small table: a word and numbers in each row, below a line that names them.

/// A table with its heading.
#[derive(Debug)]
pub struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
    /// What is said below it.
    notes: Vec<String>,
}

impl Table {
    /// A table without rows. The first head names the table.
    pub fn new<T: Into<String>>(heads: impl IntoIterator<Item = T>) -> Self {
        Self { heads: heads.into_iter().map(Into::into).collect(), rows: Vec::new(), notes: Vec::new() }
    }

    pub fn row(&mut self, name: impl Into<String>, values: impl IntoIterator<Item = String>) {
        self.rows.push(std::iter::once(name.into()).chain(values).collect());
    }

    pub fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines: names to the left, numbers to the right.
    pub fn text(&self) -> String {
        let mut lines = vec![self.line(&self.heads, "")];
        lines.extend(self.rows.iter().map(|row| self.line(row, "  ")));
        lines.extend(self.notes.iter().map(|note| format!("  {note}")));
        let trimmed: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        trimmed.join("\n") + "\n"
    }

    fn line(&self, cells: &[String], indent: &str) -> String {
        let mut line = String::new();
        for (column, cell) in cells.iter().enumerate() {
            let width = self.width(column);
            line.push_str(&if column == 0 {
                format!("{:<width$}", format!("{indent}{cell}"))
            } else {
                format!("  {cell:>width$}")
            });
        }
        line
    }

    fn width(&self, column: usize) -> usize {
        let indent = if column == 0 { 2 } else { 0 };
        let cell = |row: &Vec<String>| row.get(column).map_or(0, |cell| cell.chars().count());
        let rows = self.rows.iter().map(|row| cell(row) + indent).max().unwrap_or(0);
        rows.max(cell(&self.heads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_left_and_numbers_right() {
        let mut table = Table::new(["caches", "hits", "of"]);
        assert!(table.is_empty());
        table.row("L1", ["1.0 %".to_owned(), "1,000".to_owned()]);
        table.row("memory", ["-".to_owned(), "7".to_owned()]);
        table.note("and no more".to_owned());
        assert_eq!(
            table.text(),
            "caches     hits     of\n  L1      1.0 %  1,000\n  memory      -      7\n  and no more\n"
        );
    }
}
