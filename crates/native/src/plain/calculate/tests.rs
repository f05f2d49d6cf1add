//! Formulas: their results and their faults.

use serde_json::Value;

use super::functions::FAMILIES;
use super::{ABOUT, calculate};

fn json(formula: &str) -> Value {
    let text = calculate(formula, false, false).unwrap_or_else(|error| error);
    serde_json::from_str(&text).unwrap()
}

#[test]
fn formulas_have_values() {
    for (formula, text) in [
        ("(+ 1 (* 2 3))", r#"{"value":7,"type":"integer"}"#),
        ("(/ 7 2)", r#"{"value":3.5,"type":"number"}"#),
        ("(/ 8 2 2)", r#"{"value":2,"type":"integer"}"#),
        ("(- 5)", r#"{"value":-5,"type":"integer"}"#),
        ("42", r#"{"value":42,"type":"integer"}"#),
        ("(mod -7 3)", r#"{"value":2,"type":"integer"}"#),
        ("(rem -7 3)", r#"{"value":-1,"type":"integer"}"#),
        ("(pow 2 100)", r#"{"value":1267650600228229401496703205376,"type":"integer"}"#),
        ("(ether->wei 3)", r#"{"value":3000000000000000000,"type":"integer"}"#),
        ("(wei->ether 1500000000000000000)", r#"{"value":1.5,"type":"number"}"#),
        ("(factorial 20)", r#"{"value":2432902008176640000,"type":"integer"}"#),
        ("(lcm 4 6)", r#"{"value":12,"type":"integer"}"#),
        ("(Math/sqrt 16)", r#"{"value":4.0,"type":"number"}"#),
        ("(sin-deg 90)", r#"{"value":1.0,"type":"number"}"#),
        ("(< 1 2 3)", r#"{"value":true,"type":"boolean"}"#),
        ("(= 1 1.0)", r#"{"value":true,"type":"boolean"}"#),
        ("(cross [1 0 0] [0 1 0])", r#"{"value":[0.0,0.0,1.0],"type":"vector"}"#),
        ("(vec+ [1, 2] [3, 4])", r#"{"value":[4,6],"type":"vector"}"#),
        ("(median [3 1 2 4])", r#"{"value":2.5,"type":"number"}"#),
        ("(variance [2 4 4 4 5 5 7 9])", r#"{"value":4.571428571428571,"type":"number"}"#),
        ("(max [1 5 2])", r#"{"value":5,"type":"integer"}"#),
        ("(format-commas 1234567.891 2)", r#"{"value":"1,234,567.89","type":"string"}"#),
        ("(format-commas -1234567)", r#"{"value":"-1,234,567","type":"string"}"#),
        ("(format-scientific 12345 2)", r#"{"value":"1.23e4","type":"string"}"#),
        ("(percent-change 50 75)", r#"{"value":50.0,"type":"number"}"#),
        ("(simple-interest 1000 5 2)", r#"{"value":100.0,"type":"number"}"#),
        ("(round-to (compound-interest 1000 5 12 10) 2)", r#"{"value":1647.01,"type":"number"}"#),
        ("(unix->date 0)", r#"{"value":"1970-01-01T00:00:00Z","type":"string"}"#),
        ("(date->unix \"2000-02-29\")", r#"{"value":951782400,"type":"integer"}"#),
        ("(days-between \"2024-02-28\" \"2024-03-01\")", r#"{"value":2,"type":"integer"}"#),
        ("(date->unix \" 2024-2-9 7:5Z\")", r#"{"value":1707462300,"type":"integer"}"#),
        ("(date->unix \"9999-12-31T23:59:59Z\")", r#"{"value":253402300799,"type":"integer"}"#),
        ("(unix->date 253402300799)", r#"{"value":"9999-12-31T23:59:59Z","type":"string"}"#),
        ("(unix->date -1)", r#"{"value":"1969-12-31T23:59:59Z","type":"string"}"#),
        ("(unix->date -253402300799)", r#"{"value":"-6060-01-02T00:00:01Z","type":"string"}"#),
        ("(add-days \"0001-01-01\" -366)", r#"{"value":"0000-01-01","type":"string"}"#),
        ("(add-days \"2023-12-31\" 1)", r#"{"value":"2024-01-01","type":"string"}"#),
        ("(lock-remaining 0 10 86400)", r#"{"value":9.0,"type":"number"}"#),
        ("(round-to (impermanent-loss 4) 6)", r#"{"value":-20.0,"type":"number"}"#),
        ("(liquidation-price 2000 10)", r#"{"value":1800.0,"type":"number"}"#),
        ("(portfolio-value [1 2] [10 20])", r#"{"value":50.0,"type":"number"}"#),
        ("(round (* 2 pi))", r#"{"value":6,"type":"integer"}"#),
        ("(* 2 day)", r#"{"value":172800,"type":"integer"}"#),
    ] {
        assert_eq!(calculate(formula, false, false).as_deref(), Ok(text), "{formula}");
    }
}

#[test]
fn faults_say_what_kind_they_are_and_what_would_help() {
    for (formula, kind, says, help) in [
        ("(sqr 4)", "validation", "\"sqr\"", "did you mean sqrt?"),
        ("(+ 1", "validation", "ends too early", "close"),
        ("", "validation", "ends too early", "close"),
        ("(+ 1 2) 3", "validation", "after the formula", "one formula"),
        ("1 + 2", "validation", "after the formula", "brackets"),
        (")", "validation", "has no matching opening bracket", "remove"),
        ("(1 2)", "validation", "no function \"1\"", ""),
        ("sqrt", "validation", "constant \"sqrt\"", "write (sqrt a)"),
        ("(sqrt 1 2)", "validation", "sqrt: 2 instead of 1", "write (sqrt a)"),
        ("(mean 1)", "validation", "mean: expected a vector", "order"),
        ("(+ 1 \"a\")", "validation", "+: expected a number", "order"),
        ("(date->unix \"2023-02-29\")", "validation", "a time", ""),
        ("(date->unix \"2024-02-01T24:00\")", "validation", "a time", ""),
        ("(date->unix \"0000-01-01\")", "validation", "a time", ""),
        ("(date->unix \"2024-+2-01\")", "validation", "a time", ""),
        ("(even? 1.5)", "validation", "whole number", ""),
        ("12x", "validation", "is not a number", "numbers as"),
        ("(/ 1 0)", "arithmetic", "division by zero", ""),
        ("(mod 1 0)", "arithmetic", "division by zero", ""),
        ("(sqrt -1)", "arithmetic", "not a finite number", ""),
        ("(exp 1000)", "arithmetic", "not a finite number", ""),
        ("(factorial 34)", "arithmetic", "0 to 33", ""),
        ("(mean [])", "arithmetic", "empty", ""),
        ("(add-days 0 9999999999999999999)", "arithmetic", "too far", ""),
        ("(quot -170141183460469231731687303715884105728 -1)", "arithmetic", "", ""),
    ] {
        let fault = json(formula);
        assert_eq!(fault["type"], kind, "{formula}: {fault}");
        assert!(fault["error"].as_str().unwrap().contains(says), "{formula}: {fault}");
        assert!(fault["suggestion"].as_str().unwrap().contains(help), "{formula}: {fault}");
        assert!(fault.get("value").is_none());
    }
}

#[test]
fn size_depth_and_work_are_bounded() {
    let deep = format!("{}1{}", "(+ 1 ".repeat(100), ")".repeat(100));
    assert!(json(&deep)["error"].as_str().unwrap().contains("64 brackets"));
    let unclosed = "(".repeat(15_000);
    assert_eq!(json(&unclosed)["type"], "validation");
    let long = format!("(+ {})", "1 ".repeat(9000));
    assert!(json(&long)["error"].as_str().unwrap().contains("longer than"));
    let busy = format!("{}[{}]{}", "(sort ".repeat(60), "1 ".repeat(7000), ")".repeat(60));
    assert_eq!(json(&busy)["type"], "timeout");
    let far = format!("(pow 10 {})", "9".repeat(30));
    assert_eq!(json(&far)["type"], "arithmetic");
}

#[test]
fn base64_goes_in_and_out() {
    assert_eq!(calculate("KCsgMSAyKQ==", true, false).as_deref(), Ok(r#"{"value":3,"type":"integer"}"#));
    assert_eq!(calculate("(+ 1 2)", false, true).as_deref(), Ok("eyJ2YWx1ZSI6MywidHlwZSI6ImludGVnZXIifQ=="));
    for bad in ["(+ 1 2)", "////"] {
        let fault: Value = serde_json::from_str(&calculate(bad, true, false).unwrap_err()).unwrap();
        assert_eq!(fault["type"], "decode", "{bad}");
    }
}

#[test]
fn every_function_is_described_and_reached_under_its_usage() {
    let words: Vec<&str> = ABOUT.split([' ', ';', '.', ',']).collect();
    let functions: Vec<_> = FAMILIES.iter().flat_map(|family| family.iter()).collect();
    assert!(functions.len() > 100, "{}", functions.len());
    for (at, function) in functions.iter().enumerate() {
        assert!(words.contains(&function.name), "{} is not described", function.name);
        assert!(function.usage.starts_with(&format!("({}", function.name)), "{}", function.name);
        assert!(!functions[..at].iter().any(|other| other.name == function.name), "{}", function.name);
    }
}

#[test]
fn no_function_panics_on_odd_values() {
    let odd = [
        "0",
        "-1",
        "1e308",
        "-1e308",
        "1e-320",
        "[]",
        "[1]",
        "[1 2 3]",
        "[[]]",
        "\"x\"",
        "true",
        "170141183460469231731687303715884105727",
        "-170141183460469231731687303715884105728",
    ];
    for function in FAMILIES.iter().flat_map(|family| family.iter()) {
        for a in odd {
            for b in odd {
                let count = function.least.max(1).min(function.most);
                let given: Vec<&str> = [a, b, "1", "2"].into_iter().take(count).collect();
                let answer = json(&format!("({} {})", function.name, given.join(" ")));
                assert!(answer.get("type").is_some(), "{} {a} {b}", function.name);
            }
        }
    }
}
