//! A check as JUnit XML: one case a cell and metric.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::check::{Checked, Row, Verdict};
use crate::error::Exit;

use super::words::{change, exceeded, growth, movement, place, value, verdicts};

/// The whole document. Cases that may not pass are failures, cells that failed and troubles are errors.
pub fn junit(checked: &Checked) -> String {
    let mut suite = TestSuite::new("ctxbench check");
    for row in &checked.rows {
        suite.add_test_case(case(checked, row));
    }
    for (at, trouble) in checked.troubles.iter().enumerate() {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(trouble.message.clone());
        let mut case = TestCase::new(format!("budgets {}", at + 1), status);
        case.set_classname("ctxbench check");
        suite.add_test_case(case);
    }
    let mut report = Report::new("ctxbench check");
    report.add_test_suite(suite);
    // Everything is text, and text can always be written; the reason stands there if not.
    report.to_string().unwrap_or_else(|why| format!("<!-- {why} -->\n"))
}

fn case(checked: &Checked, row: &Row) -> TestCase {
    let fails = row.verdicts.iter().any(|verdict| verdict.exit(checked.about.locked) != Exit::Fine);
    let mut status = match row.worst() {
        Verdict::Failed => TestCaseStatus::non_success(NonSuccessKind::Error),
        _ if fails => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::Unmeasured | Verdict::Gone => TestCaseStatus::skipped(),
        _ => TestCaseStatus::success(),
    };
    let told = told(checked, row);
    if row.worst() != Verdict::Ok {
        status.set_message(told.first().cloned().unwrap_or_default());
        if fails {
            status.set_type(row.worst().name());
            status.set_description(told.join("\n"));
        }
    }
    let name = if row.metric.is_none() && row.name.is_empty() { "the cell" } else { row.name.as_str() };
    let mut case = TestCase::new(name, status);
    case.set_classname(row.cell.clone());
    case
}

fn told(checked: &Checked, row: &Row) -> Vec<String> {
    let moved = match (row.accepted, movement(row)) {
        (Some(_), Some(moved)) => format!("{} → {} {moved}", value(row.accepted), value(row.value)),
        _ => value(row.value),
    };
    let remark = row.remark.as_ref().map_or(String::new(), |remark| format!(" ({remark})"));
    let mut lines = vec![match row.name.as_str() {
        "" => format!("{}{remark}", verdicts(row)),
        name => format!("{} {name} {moved}{remark}", verdicts(row)),
    }];
    lines.extend(row.held.iter().filter(|held| held.verdict != Verdict::Ok).map(|held| exceeded(checked, held)));
    lines.extend(growth(row).map(|growth| format!("where: {growth}")));
    lines.extend(row.place.as_ref().map(|at| format!("first: {}, in {}", change(&at.change), place(at))));
    lines
}
