//! Which of several answers a text means.

/// The choice that a text means: it, its number from 1, or a part that no other has.
#[must_use]
pub fn meant<'a>(choices: &'a [String], text: &str) -> Option<&'a str> {
    let given = plain(text);
    if let Some(choice) = choices.iter().find(|choice| plain(choice) == given) {
        return Some(choice);
    }
    let number = given.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    let mut containing = choices.iter().filter(|choice| !given.is_empty() && plain(choice).contains(&given));
    let part = containing.next().filter(|_| containing.next().is_none());
    number.or(part).map(String::as_str)
}

/// The first choice that an earlier one is already, but for what does not matter.
#[must_use]
pub fn repeated(choices: &[String]) -> Option<&str> {
    let is_earlier =
        |nth: usize, choice: &str| choices.iter().take(nth).any(|other| plain(other) == plain(choice));
    let mut numbered = choices.iter().enumerate();
    numbered.find(|(nth, choice)| is_earlier(*nth, choice)).map(|(_, choice)| choice.as_str())
}

/// A text without what does not matter: case, blanks, punctuation at its end.
#[must_use]
pub fn plain(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    words.trim_end_matches(['.', '!', ',', ';']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_meant_by_its_text_before_its_number() {
        let choices = ["2", "1", "A lost  message.", "a store"].map(str::to_owned);
        let meant = |text| meant(&choices, text);
        assert_eq!(meant("1"), Some("1"));
        assert_eq!(meant("4"), Some("a store"));
        assert_eq!(meant(" a LOST message "), Some("A lost  message."));
        assert_eq!(
            (meant("lost"), meant("a"), meant(""), meant("9")),
            (Some("A lost  message."), None, None, None)
        );
    }

    #[test]
    fn choices_that_mean_the_same_are_repeated() {
        let of = |choices: &[&str]| {
            let choices: Vec<_> = choices.iter().map(|&choice| choice.to_owned()).collect();
            repeated(&choices).map(str::to_owned)
        };
        assert_eq!(of(&["yes", "no", "Yes."]).as_deref(), Some("Yes."));
        assert_eq!(of(&["yes", "no", "yes"]).as_deref(), Some("yes"));
        assert_eq!(of(&["yes", "no"]), None);
    }
}
