//! Program text.

use super::words::{ADJECTIVES, AREAS, NOUNS, VERBS};
use super::{Language, Random, chinese, sentence};

/// One function or type with a blank line after it.
pub(super) fn block(language: Language, random: &mut Random) -> String {
    match language {
        Language::Python => python(random),
        Language::TypeScript => typescript(random),
        Language::Rust | Language::Default => rust(sentence, random),
        Language::Chinese => rust(chinese::sentence, random),
    }
}

/// Rust, with comments as they are said.
fn rust(say: fn(&mut Random) -> String, random: &mut Random) -> String {
    let (noun, other, verb) = (random.pick(&NOUNS), random.pick(&NOUNS), random.pick(&VERBS));
    let (quality, area) = (random.pick(&ADJECTIVES), random.pick(&AREAS));
    let kind = capital(noun);
    match random.below(4) {
        0 => format!(
            "/// {}\n#[derive(Clone, Debug, PartialEq)]\npub struct {kind}{} {{\n    pub {other}_id: u64,\n    pub {quality}: bool,\n    pub {area}_count: Option<u32>,\n    pub notes: Vec<String>,\n}}\n\n",
            say(random),
            capital(other),
        ),
        1 => format!(
            "impl {kind} {{\n    pub fn {verb}_{other}(&mut self, {other}: &{}) -> Result<u64, {}Error> {{\n        if self.{quality} && {other}.amount > {} {{\n            return Err({}Error::TooLarge({other}.amount));\n        }}\n        self.total += {other}.amount;\n        self.{area}.insert({other}.id, self.total);\n        Ok(self.total)\n    }}\n}}\n\n",
            capital(other),
            capital(area),
            random.below(10_000),
            capital(area),
        ),
        2 => format!(
            "/// {}\npub fn {verb}_{noun}_rows(rows: &[{kind}], limit: usize) -> Vec<{kind}> {{\n    let mut kept: Vec<{kind}> = rows.iter().filter(|{noun}| !{noun}.{quality}).cloned().collect();\n    kept.sort_by_key(|{noun}| (Reverse({noun}.{other}_count), {noun}.id));\n    kept.truncate(limit.min({}));\n    kept\n}}\n\n",
            say(random),
            8 + random.below(500),
        ),
        _ => format!(
            "fn {quality}_{noun}(store: &{}Store, id: u64) -> Option<{kind}> {{\n    // {}\n    let row = store.find(\"{area}.{noun}\", id)?;\n    match row.state.as_str() {{\n        \"{quality}\" => Some({kind}::from(row)),\n        \"{}\" if row.age < {} => store.{verb}(row).ok(),\n        _ => None,\n    }}\n}}\n\n",
            capital(area),
            say(random),
            random.pick(&ADJECTIVES),
            random.below(90),
        ),
    }
}

fn python(random: &mut Random) -> String {
    let (noun, other, verb) = (random.pick(&NOUNS), random.pick(&NOUNS), random.pick(&VERBS));
    let (quality, area) = (random.pick(&ADJECTIVES), random.pick(&AREAS));
    match random.below(3) {
        0 => format!(
            "@dataclass\nclass {}{}:\n    \"\"\"{}\"\"\"\n\n    {other}_id: int\n    {quality}: bool = False\n    {area}: list[str] = field(default_factory=list)\n\n\n",
            capital(quality),
            capital(noun),
            sentence(random),
        ),
        1 => format!(
            "def {verb}_{noun}({noun}: {}, limit: int = {}) -> dict[str, int]:\n    \"\"\"{}\"\"\"\n    totals: dict[str, int] = {{}}\n    for {other} in {noun}.{other}_rows[:limit]:\n        if {other}.{quality}:\n            continue\n        totals[{other}.name] = totals.get({other}.name, 0) + {other}.amount\n    return totals\n\n\n",
            capital(noun),
            10 + random.below(900),
            sentence(random),
        ),
        _ => format!(
            "async def {verb}_{quality}_{noun}_rows(session, {area}_id):\n    rows = await session.fetch_all({}_QUERY, {{\"{area}\": {area}_id}})\n    # {}\n    return [{}.from_row(row) for row in rows if row[\"{other}\"] != {}]\n\n\n",
            noun.to_uppercase(),
            sentence(random),
            capital(noun),
            random.below(50),
        ),
    }
}

fn typescript(random: &mut Random) -> String {
    let (noun, other, verb) = (random.pick(&NOUNS), random.pick(&NOUNS), random.pick(&VERBS));
    let (quality, area) = (random.pick(&ADJECTIVES), random.pick(&AREAS));
    let kind = capital(noun);
    match random.below(3) {
        0 => format!(
            "export interface {kind}{} {{\n  readonly {other}Id: string;\n  {quality}: boolean;\n  {area}?: Record<string, number>;\n}}\n\n",
            capital(other),
        ),
        1 => format!(
            "/** {} */\nexport async function {verb}{kind}(id: string, limit = {}): Promise<{kind}[]> {{\n  const found = await {area}Client.list{}({{ id, limit }});\n  return found.filter(({other}) => !{other}.{quality}).map(to{kind});\n}}\n\n",
            sentence(random),
            10 + random.below(900),
            capital(other),
        ),
        _ => format!(
            "const {quality}{kind} = ({noun}: {kind}): number => {{\n  // {}\n  if ({noun}.{other} === undefined) {{\n    throw new {}Error(`no {other} in ${{{noun}.id}}`);\n  }}\n  return {noun}.{other}.reduce((sum, each) => sum + each.amount, {});\n}};\n\n",
            sentence(random),
            capital(area),
            random.below(20),
        ),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
