//! `summary-return`: what comes back is short, because the child was asked to be brief and is held to it.

use crate::transcript::{Item, Means, ToolCall};

use super::super::{
    Act, Call, Event, Order, ParentView, Report, ReturnFormat, Route, RunContext, Scope, Session, Strategy, ToolSpec, View, When,
};
use super::TOOL;

/// The baseline of a capped return. The task goes down with one sentence behind it, `Answer in at most N words.`; the last
/// text comes back, and what is over the limit all the same is cut behind its Nth word, with a line that says so.
///
/// The child knows the limit, so it can choose what to leave out. That is the difference to the option `return_max` of any
/// strategy, where a limit that nobody told it of falls where it falls.
#[derive(Clone, Copy, Debug)]
pub struct SummaryReturn {
    /// The most words of a return.
    pub max_words: usize,
}

impl SummaryReturn {
    /// About a tenth of what real sub-agents return (1,000 to 2,000 tokens).
    pub const WORDS: usize = 100;
}

impl Default for SummaryReturn {
    fn default() -> SummaryReturn {
        SummaryReturn { max_words: SummaryReturn::WORDS }
    }
}

impl Strategy for SummaryReturn {
    fn id(&self) -> String {
        match self.max_words {
            SummaryReturn::WORDS => "summary-return@1".into(),
            words => format!("summary-return@1:max_words={words}"),
        }
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        let about = format!("Its answer, of at most {} words, comes back as this call's result.", self.max_words);
        Box::new(SummarySession { max_words: self.max_words, tool: super::tool(run, &about), run: run.clone() })
    }
}

struct SummarySession {
    max_words: usize,
    tool: ToolSpec,
    run: RunContext,
}

impl Session for SummarySession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        super::phrase(act)
    }

    fn view(&mut self, _: &[Item], at: &Scope<'_>) -> View {
        let view = super::view(&self.run, at, &[TOOL]);
        if at.me().depth == 0 { view.tool(self.tool.clone()) } else { view }
    }

    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, at: &Scope<'_>) -> Route {
        match call.name == TOOL {
            true => {
                Route::Do(vec![super::open(call, &self.run, at, |task| format!("{task}\n\nAnswer in at most {} words.", self.max_words))])
            }
            false => Route::Tool,
        }
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Ended(report) => report.by.map(|call| self.answer(call, &report)).into_iter().collect(),
            Event::Opened { .. } | Event::Waiting { .. } | Event::Aside(_) => vec![],
        }
    }
}

impl SummarySession {
    fn answer(&self, call: &ToolCall, report: &Report<'_>) -> Order {
        match report.answer() {
            Ok(text) => {
                // What a form puts around an answer is none of its words.
                let text = match ReturnFormat::of(&text) {
                    Some((format, inner)) => format.form(capped(&inner, self.max_words)),
                    None => capped(&text, self.max_words),
                };
                Order::reply(call, text).meaning(Means::Returned(None))
            }
            Err(why) => Order::reply(call, format!("Error: {why}")).failed().meaning(Means::Failed(None)),
        }
    }
}

/// A text of at most so many words, with what it was cut to on a line of its own if it had more.
pub(super) fn capped(text: &str, max_words: usize) -> String {
    let mut words = 0;
    let mut in_word = false;
    for (at, c) in text.char_indices() {
        if c.is_whitespace() {
            in_word = false;
        } else if !in_word {
            in_word = true;
            words += 1;
            if words > max_words {
                let all = text.split_whitespace().count();
                return format!("{}\n[cut to {max_words} of {all} words]", text[..at].trim_end());
            }
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::capped;

    #[test]
    fn what_is_over_the_limit_is_cut_behind_a_word_and_said() {
        #[track_caller]
        fn check(text: &str, max_words: usize, expect: &str) {
            assert_eq!(capped(text, max_words), expect);
        }
        check("one two three", 3, "one two three");
        check(" one\n two  three ", 3, " one\n two  three ");
        check("one two\nthree four", 3, "one two\nthree\n[cut to 3 of 4 words]");
        check("端口 是 8080", 2, "端口 是\n[cut to 2 of 3 words]");
        check("", 1, "");
        check("one two", 0, "\n[cut to 0 of 2 words]");
    }

    proptest! {
        #[test]
        fn a_capped_text_begins_as_the_text_does_and_holds_as_many_words(text in "[a-z é\n\t]{0,60}", max_words in 1_usize..9) {
            let capped = capped(&text, max_words);
            let all = text.split_whitespace().count();
            if all <= max_words {
                prop_assert_eq!(capped, text);
            } else {
                let (kept, mark) = capped.rsplit_once('\n').expect("the mark is a line");
                prop_assert!(text.starts_with(kept));
                prop_assert_eq!(kept.split_whitespace().count(), max_words);
                prop_assert_eq!(mark, format!("[cut to {max_words} of {all} words]"));
            }
        }
    }
}
