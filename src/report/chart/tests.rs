//! That pictures are XML, and show what they were given.

use super::{Bars, Chart, Course, Lines, Series};

fn series(name: &str, values: &[f64]) -> Series {
    Series { name: name.to_owned(), values: values.to_vec() }
}

fn bars(stacked: bool) -> Chart {
    Chart::Bars(Bars {
        title: "A < B & \"C\"".to_owned(),
        axis: "time & more".to_owned(),
        groups: ["F&W", "GM"].map(str::to_owned).into(),
        series: vec![series("1 KiB", &[1.0, 2.0]), series("a>b", &[3.0, f64::NAN])],
        clusters: Vec::new(),
        stacked,
    })
}

fn lines() -> Chart {
    Chart::Lines(Lines {
        title: "L".to_owned(),
        axis: "y".to_owned(),
        points: ["1", "2", "3"].map(str::to_owned).into(),
        series: vec![series("one", &[1.0, 2.0, 4.0]), series("two", &[4.0])],
    })
}

fn course() -> Chart {
    Chart::Course(Course {
        title: "C".to_owned(),
        axis: "share".to_owned(),
        window: 50.0,
        end: 100.0,
        series: vec![series("up", &[0.0, 1.0]), series("down", &[1.0, 0.5])],
        marks: vec![0.0, 25.0],
    })
}

/// Names of the elements of a document in the order in which they begin.
///
/// # Errors
/// If it is not well-formed.
fn elements(document: &str) -> Result<Vec<String>, String> {
    let (mut names, mut open) = (Vec::new(), Vec::new());
    let mut rest = document;
    while let Some(at) = rest.find('<') {
        text(&rest[..at])?;
        let end = rest[at..].find('>').ok_or("a tag without an end")? + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name.to_owned()) {
                return Err(format!("</{name}> ends what did not begin"));
            }
            continue;
        }
        let bare = tag.strip_suffix('/');
        let (name, attributes) = bare.unwrap_or(tag).split_once(' ').unwrap_or((bare.unwrap_or(tag), ""));
        attributes_of(attributes)?;
        names.push(name.to_owned());
        if bare.is_none() {
            open.push(name.to_owned());
        } else if open.is_empty() {
            return Err(format!("<{name}> stands alone"));
        }
    }
    text(rest)?;
    if open.is_empty() { Ok(names) } else { Err(format!("{open:?} do not end")) }
}

/// `name="value"`, each once.
fn attributes_of(mut rest: &str) -> Result<(), String> {
    let mut names: Vec<&str> = Vec::new();
    while !rest.trim().is_empty() {
        let (name, after) = rest.trim_start().split_once("=\"").ok_or(format!("no attribute: {rest}"))?;
        let (value, after) = after.split_once('"').ok_or(format!("no end: {after}"))?;
        text(value)?;
        if names.contains(&name) || name.contains(char::is_whitespace) {
            return Err(format!("attribute {name}"));
        }
        names.push(name);
        rest = after;
    }
    Ok(())
}

/// Text may have `&` only in references.
fn text(text: &str) -> Result<(), String> {
    let known = |rest: &str| ["amp;", "lt;", "gt;", "quot;"].iter().any(|name| rest.starts_with(name));
    match text.match_indices('&').find(|(at, _)| !known(&text[at + 1..])) {
        Some(_) => Err(format!("a bare & in {text}")),
        None => Ok(()),
    }
}

#[test]
fn pictures_are_xml() {
    for (chart, shapes) in [(bars(false), 3), (bars(true), 3), (lines(), 4), (course(), 0)] {
        let svg = chart.svg("paper 2");
        let names = elements(&svg).unwrap_or_else(|wrong| panic!("{wrong}\n{svg}"));
        assert_eq!(names[0], "svg");
        assert_eq!(names.iter().filter(|name| *name == "title").count(), shapes + 1, "{svg}");
    }
}

#[test]
fn what_is_no_xml_would_be_seen() {
    for wrong in ["<a>", "<a></b>", "<a x=1></a>", "<a x=\"1\" x=\"2\"></a>", "<a>&</a>", "<a/>", "<a"] {
        assert!(elements(wrong).is_err(), "{wrong}");
    }
    assert_eq!(elements("<a x=\"1\"><b/>&lt;</a>").unwrap(), ["a", "b"]);
}

/// The `y` and `height` of every bar, top to bottom of the document.
fn heights(svg: &str) -> Vec<(f64, f64)> {
    let attribute = |line: &str, name: &str| -> f64 {
        let (_, after) = line.split_once(&format!(" {name}=\"")).unwrap();
        after.split_once('"').unwrap().0.parse().unwrap()
    };
    let bars = svg.lines().filter(|line| line.contains("</rect>"));
    bars.map(|line| (attribute(line, "y"), attribute(line, "height"))).collect()
}

#[test]
fn bars_are_as_high_as_their_values_and_stacks_stand_on_each_other() {
    let [(_, one), (_, three), (_, two)] = heights(&bars(false).svg("paper 2"))[..] else { panic!() };
    assert!((three - 3.0 * one).abs() < 0.2 && (two - 2.0 * one).abs() < 0.2);
    let [(low, _), (high, tall), _] = heights(&bars(true).svg("paper 2"))[..] else { panic!() };
    assert!((high + tall - low).abs() < 0.2, "the second begins where the first ends");
}

#[test]
fn a_picture_has_title_axis_names_and_legend() {
    let svg = bars(false).svg("paper 2");
    for words in [
        "A &lt; B &amp; &quot;C&quot;",
        ">time &amp; more<",
        ">F&amp;W<",
        ">GM<",
        ">1 KiB<",
        ">a&gt;b<",
        ">paper 2<",
    ] {
        assert!(svg.contains(words), "{words}: {svg}");
    }
}

#[test]
fn a_mean_stands_apart_and_so_do_clusters() {
    let Chart::Bars(chart) = bars(true) else { panic!() };
    let divided = |chart: &Bars| Chart::Bars(chart.clone()).svg("").matches("stroke=\"#888888\"").count();
    let without = Bars { groups: ["1", "2"].map(str::to_owned).into(), ..chart.clone() };
    assert_eq!((divided(&chart), divided(&without)), (1, 0));
    let clusters = vec![("one".to_owned(), 1), ("two".to_owned(), 1)];
    let clustered = Bars { clusters, ..without };
    assert_eq!(divided(&clustered), 1);
    assert!(Chart::Bars(clustered).svg("").contains(">two<"));
}

#[test]
fn a_course_goes_over_the_whole_field_and_says_when_things_began() {
    let svg = course().svg("paper 2");
    let lines: Vec<&str> = svg.lines().filter(|line| line.starts_with("<polyline")).collect();
    let points =
        |line: &str| line.split('"').nth(1).unwrap().split(' ').map(str::to_owned).collect::<Vec<_>>();
    // Two in the legend, then the series.
    let [_, _, up, down] = lines[..] else { panic!("{svg}") };
    assert_eq!(points(up), ["70.0,350.0", "280.0,350.0", "280.0,70.0", "490.0,70.0"]);
    assert_eq!(points(down), ["70.0,70.0", "280.0,70.0", "280.0,210.0", "490.0,210.0"]);
    let begun: Vec<&str> = svg.lines().filter(|line| line.contains("dasharray=\"1 3\"")).collect();
    assert!(begun[0].contains("x1=\"70.0\"") && begun[1].contains("x1=\"175.0\""), "{svg}");
}
