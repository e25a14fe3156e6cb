//! Turn boundaries of a plain history.

use super::{Body, Item, Role};

/// Where the turns of a history begin, as positions in ascending order.
pub type Turns = Vec<usize>;

/// A turn begins at each user message that no user message stands directly before: a run of user messages opens one
/// turn together. What stands before the first one belongs to none.
pub fn turns(items: &[Item]) -> Turns {
    let is_user = |item: &Item| matches!(item.body(), Body::Message { role: Role::User, .. });
    (0..items.len()).filter(|&at| is_user(&items[at]) && (at == 0 || !is_user(&items[at - 1]))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Origin;

    fn check(roles: &str, expect: &[usize]) {
        let items: Vec<Item> = roles
            .chars()
            .map(|c| match c {
                'u' => Item::user(Origin::User, "u"),
                's' => Item::message(Role::System, Origin::System, "s"),
                _ => Item::assistant(None, "a"),
            })
            .collect();
        assert_eq!(turns(&items), expect, "{roles}");
    }

    #[test]
    fn turns_begin_at_runs_of_user_messages() {
        check("", &[]);
        check("sa", &[]);
        check("suau", &[1, 3]);
        check("uuaau", &[0, 4]);
    }
}
