//! Aligned columns, as kubectl prints them.

use std::fmt::Write as _;

/// A table that is still being filled.
pub(crate) struct Columns {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

/// Blanks between two columns.
const GAP: usize = 3;

impl Columns {
    /// A table with these headings.
    pub(crate) fn new(head: impl IntoIterator<Item = &'static str>) -> Self {
        Self { head: head.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a row. Line ends and control characters within a cell become blanks.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let clean = |cell: String| cell.replace(char::is_control, " ");
        self.rows.push(cells.into_iter().map(clean).collect());
    }

    /// The text, without trailing blanks.
    pub(crate) fn render(&self, with_head: bool) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            cells.chain([self.head[column].chars().count()]).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let head: Vec<String> = self.head.iter().map(ToString::to_string).collect();
        let mut text = String::new();
        for row in with_head.then_some(&head).into_iter().chain(&self.rows) {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                let _ = write!(line, "{cell:width$}", width = width + GAP);
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Columns::new(["NAME", "AVAILABLE", "WHY"]);
        table.row(["notes", "True", ""].map(str::to_owned));
        table.row(["a-long-name", "False", "two\nlines"].map(str::to_owned));
        expect_test::expect![[r#"
            NAME          AVAILABLE   WHY
            notes         True
            a-long-name   False       two lines
        "#]]
        .assert_eq(&table.render(true));
    }
}
