//! The first line of a file of results: which points a sweep has.

use serde_json::{Value, json};

use super::plan::Plan;

/// Which points a sweep has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    json: Value,
    /// The key of every point, in order.
    pub keys: Vec<String>,
}

impl Header {
    pub fn of(plan: &Plan) -> Self {
        let points = plan.points.iter().map(|point| {
            let mut map = point.name.json();
            map.insert("key".into(), json!(point.key));
            Value::Object(map)
        });
        let points: Vec<Value> = points.collect();
        Self {
            json: json!({ "sweep": plan.title, "points": points }),
            keys: plan.points.iter().map(|point| point.key.clone()).collect(),
        }
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

    pub fn title(&self) -> &str {
        self.json.get("sweep").and_then(Value::as_str).unwrap_or("")
    }

    /// What a point is called.
    pub fn name(&self, point: usize) -> String {
        let Some(point) = self.json.get("points").and_then(|points| points.get(point)) else {
            return String::new();
        };
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut name = point.get("scenario").map(text).unwrap_or_default();
        for (key, value) in point.get("set").and_then(Value::as_object).into_iter().flatten() {
            name.push_str(&format!(" {key}={}", text(value)));
        }
        if let Some(seed) = point.get("seed").filter(|seed| !seed.is_null()) {
            name.push_str(&format!(" seed {seed}"));
        }
        name
    }

    pub fn line(&self) -> String {
        format!("{}\n", self.json)
    }
}
