//! Whole-number expressions over parameters: `$files`, `${files - 1}`, `${2 * i == files}`.

use std::collections::BTreeMap;

use super::errors::suggest;

/// The names that an expression may use.
pub(super) type Names = BTreeMap<String, i64>;

/// Parentheses and signs nest this deep at most: the evaluator calls itself.
const DEPTH: usize = 32;

/// The value of an expression, or what is wrong with it.
pub(super) fn evaluate(text: &str, names: &Names) -> Result<i64, String> {
    let mut reader = Reader { text, rest: text, names, depth: 0 };
    let value = reader.comparison()?;
    match reader.rest.trim_start() {
        "" => Ok(value),
        rest => Err(format!("`{rest}` is left over in the expression `{text}`")),
    }
}

/// Whether a text can name a parameter.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    names: &'a Names,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn accept(&mut self, operators: &[&'static str]) -> Option<&'static str> {
        self.rest = self.rest.trim_start();
        let found = operators.iter().find(|operator| self.rest.starts_with(**operator))?;
        self.rest = self.rest.strip_prefix(found)?;
        Some(found)
    }

    fn comparison(&mut self) -> Result<i64, String> {
        let left = self.sum()?;
        // The longer operators come first: `<` begins `<=`.
        let Some(operator) = self.accept(&["==", "!=", "<=", ">=", "<", ">"]) else { return Ok(left) };
        let right = self.sum()?;
        let holds = match operator {
            "==" => left == right,
            "!=" => left != right,
            "<=" => left <= right,
            ">=" => left >= right,
            "<" => left < right,
            _ => left > right,
        };
        Ok(i64::from(holds))
    }

    fn sum(&mut self) -> Result<i64, String> {
        let mut value = self.product()?;
        while let Some(operator) = self.accept(&["+", "-"]) {
            let right = self.product()?;
            let result = if operator == "+" { value.checked_add(right) } else { value.checked_sub(right) };
            value = self.in_range(result)?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<i64, String> {
        let mut value = self.factor()?;
        while let Some(operator) = self.accept(&["*", "/", "%"]) {
            let right = self.factor()?;
            let result = match operator {
                "*" => value.checked_mul(right),
                _ if right == 0 => return Err(format!("the expression `{}` divides by 0", self.text)),
                "/" => value.checked_div_euclid(right),
                _ => value.checked_rem_euclid(right),
            };
            value = self.in_range(result)?;
        }
        Ok(value)
    }

    fn factor(&mut self) -> Result<i64, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("the expression nests more than {DEPTH} deep"));
        }
        let value = if self.accept(&["-"]).is_some() {
            let value = self.factor()?;
            self.in_range(value.checked_neg())
        } else if self.accept(&["("]).is_some() {
            let value = self.comparison()?;
            match self.accept(&[")"]) {
                Some(_) => Ok(value),
                None => Err(format!("a `)` is missing in the expression `{}`", self.text)),
            }
        } else {
            self.word()
        };
        self.depth -= 1;
        value
    }

    fn word(&mut self) -> Result<i64, String> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(format!("a number or a parameter is missing in the expression `{}`", self.text));
        }
        self.rest = rest;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return word.parse().map_err(|_| format!("`{word}` is no whole number"));
        }
        let known = self.names.keys().map(String::as_str);
        self.names.get(word).copied().ok_or_else(|| format!("there is no parameter `{word}`: {}", suggest(word, known)))
    }

    fn in_range(&self, value: Option<i64>) -> Result<i64, String> {
        value.ok_or_else(|| format!("the expression `{}` leaves the range of whole numbers", self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<i64, &str>) {
        let names = Names::from([("files".to_owned(), 20), ("i".to_owned(), 3)]);
        assert_eq!(evaluate(text, &names), expect.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn whole_numbers_with_the_usual_precedence() {
        check("files", Ok(20));
        check(" files - i * 2 ", Ok(14));
        check("(files - i) * 2", Ok(34));
        check("files - 1 - 1", Ok(18));
        check("-i + 5", Ok(2));
        check("(i - 1) / 2", Ok(1));
        check("-1 / 2", Ok(-1));
        check("-1 % 4", Ok(3));
        check("i == 3", Ok(1));
        check("i + 1 <= 3", Ok(0));
        check("2*(i>=3)", Ok(2));
    }

    #[test]
    fn what_is_wrong_is_named() {
        check("file", Err("there is no parameter `file`: did you mean `files`?"));
        check("1 / (i - 3)", Err("the expression `1 / (i - 3)` divides by 0"));
        check("1 +", Err("a number or a parameter is missing in the expression `1 +`"));
        check("(1", Err("a `)` is missing in the expression `(1`"));
        check("1 2", Err("`2` is left over in the expression `1 2`"));
        check("9223372036854775807 + 1", Err("the expression `9223372036854775807 + 1` leaves the range of whole numbers"));
        check("99999999999999999999", Err("`99999999999999999999` is no whole number"));
        check(&"(".repeat(100_000), Err("the expression nests more than 32 deep"));
        check(&"-".repeat(100_000), Err("the expression nests more than 32 deep"));
    }
}
