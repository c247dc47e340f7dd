//! The first line of a file of results: which points there are.

use serde_json::{Map, Value, json};

/// What results of figures are called, where those of a sweep have its title.
pub const FIGURES: &str = "figures";

/// Which points there are, and what they are of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    json: Value,
    /// The key of every point, in order.
    pub keys: Vec<String>,
}

impl Header {
    /// Each point with its key and what it is called.
    pub fn of(title: &str, points: impl IntoIterator<Item = (String, Map<String, Value>)>) -> Self {
        let (mut keys, mut all) = (Vec::new(), Vec::new());
        for (key, mut name) in points {
            name.insert("key".into(), json!(key));
            all.push(Value::Object(name));
            keys.push(key);
        }
        Self { json: json!({ "sweep": title, "points": all }), keys }
    }

    pub fn parse(line: &[u8]) -> Option<Self> {
        let json: Value = serde_json::from_slice(line).ok()?;
        json.get("sweep")?.as_str()?;
        let keys: Option<Vec<String>> = json
            .get("points")?
            .as_array()?
            .iter()
            .map(|point| Some(point.get("key")?.as_str()?.to_owned()))
            .collect();
        Some(Self { keys: keys?, json })
    }

    /// These points, and then those of another header that are not among them.
    #[must_use]
    pub fn with_others(mut self, other: &Self) -> Self {
        let theirs = other.json.get("points").and_then(Value::as_array).into_iter().flatten();
        let others: Vec<(&String, &Value)> =
            other.keys.iter().zip(theirs).filter(|(key, _)| !self.keys.contains(key)).collect();
        if let Some(points) = self.json.get_mut("points").and_then(Value::as_array_mut) {
            points.extend(others.iter().map(|(_, point)| (*point).clone()));
        }
        self.keys.extend(others.iter().map(|(key, _)| (*key).clone()));
        self
    }

    /// Whether the points are runs of figures: those of a sweep have seeds, whatever its title.
    pub fn is_of_figures(&self) -> bool {
        let first = self.json.get("points").and_then(|points| points.get(0));
        self.title() == FIGURES && first.is_none_or(|point| point.get("seed").is_none())
    }

    pub fn title(&self) -> &str {
        self.json.get("sweep").and_then(Value::as_str).unwrap_or("")
    }

    /// What a point is called.
    pub fn name(&self, point: usize) -> String {
        let point = self.json.get("points").and_then(|points| points.get(point));
        point.and_then(Value::as_object).map_or_else(String::new, name_of)
    }

    /// What the point of this key is called.
    pub fn point(&self, key: &str) -> Option<String> {
        self.keys.iter().position(|known| known == key).map(|point| self.name(point))
    }

    pub fn line(&self) -> String {
        format!("{}\n", self.json)
    }
}

/// What a point is called that is told so: its scenario, machine, settings and seed.
pub fn name_of(point: &Map<String, Value>) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut name = point.get("scenario").map(text).unwrap_or_default();
    if let Some(machine) = point.get("machine").map(text) {
        name.push_str(&format!(" on {machine}"));
    }
    for (key, value) in point.get("set").and_then(Value::as_object).into_iter().flatten() {
        name.push_str(&format!(" {key}={}", text(value)));
    }
    if let Some(seed) = point.get("seed").filter(|seed| !seed.is_null()) {
        name.push_str(&format!(" seed {seed}"));
    }
    name
}
