//! How fast tokens are counted: common texts, the worst texts, and the memo's look-ups.
//!
//! `cargo bench --bench counting`; add a name (`worst`, `fork`) for a part of it.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use ctxbench::tokens::{Encoding, Meter, TokenCounter, counter, counter_by_name};
use ctxbench::transcript::{CallKey, Item, Origin, ToolCall};

const MB: usize = 1 << 20;

/// Numbers that look random and are the same on every run.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    }
}

/// A megabyte of units in random order.
fn shuffled(units: &[&str]) -> String {
    let (mut number, mut text) = (numbers(), String::with_capacity(MB + 64));
    while text.len() < MB {
        text += units[number(units.len())];
    }
    text
}

/// A megabyte of random characters.
fn characters(from: impl IntoIterator<Item = char>) -> String {
    let from: Vec<char> = from.into_iter().collect();
    let mut number = numbers();
    (0..MB / from[0].len_utf8()).map(|_| from[number(from.len())]).collect()
}

fn bench_text(criterion: &mut Criterion, group: &str, name: &str, counter: &Arc<dyn TokenCounter>, text: &str) {
    let mut group = criterion.benchmark_group(group);
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function(name, |bencher| bencher.iter(|| counter.count(black_box(text))));
    group.finish();
}

/// Sources of this project and texts made of the words of a language.
fn common(criterion: &mut Criterion) {
    let sources = concat!(
        include_str!("../src/tokens/meter.rs"),
        include_str!("../src/tokens/pieces.rs"),
        include_str!("../src/tokens/merge.rs"),
        include_str!("../src/transcript/item.rs"),
        include_str!("../src/ledger.rs"),
    );
    let words: Vec<&str> = sources.split_inclusive(' ').collect();
    let texts = [
        ("sources", sources.repeat(MB / sources.len() + 1)),
        ("shuffled sources", shuffled(&words)),
        ("Russian", shuffled(&["Привет, ", "мир! ", "Это ", "проверка ", "подсчёта ", "слов ", "и ", "знаков.\n"])),
        ("Chinese", shuffled(&["你好，", "世界。", "这是", "一个", "测试", "，用来", "计算", "字数。\n"])),
        ("emoji", shuffled(&["😀", "👩‍👩‍👧‍👦", "🏳️‍🌈", " ok ", "👋🏽", "\n"])),
    ];
    for encoding in Encoding::ALL {
        for engine in ["tiktoken", "tiktoken-rs"] {
            let counter = counter_by_name(encoding, engine).expect("an engine of that name");
            for (name, text) in &texts {
                bench_text(criterion, &format!("common/{encoding}/{engine}"), name, &counter, text);
            }
        }
    }
}

/// A megabyte of what tokenizers choke on.
fn worst(criterion: &mut Criterion) {
    let texts = [
        ("a", "a".repeat(MB)),
        ("spaces", " ".repeat(MB)),
        ("spaces before x", " ".repeat(MB) + "x"),
        ("tabs", "\t".repeat(MB)),
        ("line breaks", "\n".repeat(MB)),
        ("dashes", "-".repeat(MB)),
        ("digits", "1234567890".repeat(MB / 10)),
        ("one ideograph", "中".repeat(MB / 3)),
        ("letters", characters('a'..='z')),
        ("punctuation", characters('!'..='/')),
        ("base64", characters(('a'..='z').chain('A'..='Z').chain('0'..='9').chain(['+', '/']))),
        ("Latin and control characters", characters('\u{1}'..'\u{250}')),
        ("any characters", characters('\u{800}'..'\u{10000}')),
    ];
    for encoding in Encoding::ALL {
        let counter = counter(encoding);
        for (name, text) in &texts {
            bench_text(criterion, &format!("worst/{encoding}"), name, &counter, text);
        }
    }
}

/// A fork of 100,000 items: what it costs to weigh it, when every text is known and when none is.
fn fork(criterion: &mut Criterion) {
    let items: Vec<Item> = (0..100_000)
        .map(|at| match at % 3 {
            0 => Item::user(Origin::User, format!("question {at}")),
            1 => Item::call(ToolCall {
                key: CallKey(at),
                id: at.to_string(),
                name: "read_file".into(),
                args: format!("{{\"path\":\"src/{at}.rs\"}}").into(),
                intent: None,
                recorded: None,
            }),
            _ => Item::result(CallKey(at - 1), Origin::ToolResult, format!("answer {at}"), false),
        })
        .collect();
    let weigh =
        |meter: &Meter| -> u64 { items.iter().filter_map(|item| meter.item(item).ok()).map(|weight| u64::from(weight.tokens)).sum() };
    let mut group = criterion.benchmark_group("fork");
    group.throughput(Throughput::Elements(items.len() as u64));
    let known = Meter::new(counter(Encoding::O200kBase));
    weigh(&known);
    group.bench_function("known", |bencher| bencher.iter(|| weigh(black_box(&known))));
    group.bench_function("new", |bencher| {
        bencher.iter_batched_ref(|| Meter::new(counter(Encoding::O200kBase)), |meter| weigh(meter), BatchSize::PerIteration)
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = common, worst, fork
}
criterion_main!(benches);
