//! Conformance vectors of resispec-ref in Rust, without crates: reads vectors.jsonl, calls your verifier with its
//! inputs, prints what differs. See verifier.rs for its use. Copy it freely.

use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};

pub type Law = Vec<f64>;

/// One position: laws over the vocabulary, candidates in the order of their draw (-1: absent, and so are those after
/// it), and uniforms, one a candidate and the last for the last draw.
pub struct Position {
    pub target: Law,
    pub draft: Law,
    pub tokens: Vec<i64>,
    pub uniforms: Vec<f64>,
}

/// A tree of drafted tokens: the parent of each node (-1: the root); rows after the root and after each node, the
/// root's first; uniforms, row by row. A chain is a tree in which node i is the parent of node i + 1.
pub struct Tree {
    pub target: Vec<Law>,
    pub draft: Vec<Law>,
    pub parents: Vec<i64>,
    pub tokens: Vec<i64>,
    pub uniforms: Vec<Vec<f64>>,
    pub end: Option<i64>,
}

/// The token emitted, and which candidate was accepted: the number of candidates if none was, None if you do not say.
pub type Answer = (i64, Option<usize>);
type PositionVerifier = Box<dyn Fn(&Position) -> Answer>;
type TreeVerifier = Box<dyn Fn(&Tree) -> Vec<i64>>;

enum Json {
    Null,
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn find(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|m| m.0 == key).map(|m| &m.1),
            _ => None,
        }
    }
    fn get(&self, key: &str) -> Result<&Json, String> {
        self.find(key).ok_or(format!("a record has no field {}", key))
    }
    fn text(&self) -> &str {
        if let Json::Text(text) = self { text } else { "" }
    }
    fn number(&self) -> f64 {
        if let Json::Number(number) = self { *number } else { 0.0 }
    }
    fn list(&self) -> &[Json] {
        if let Json::List(list) = self { list } else { &[] }
    }
    fn members(&self) -> &[(String, Json)] {
        if let Json::Object(members) = self { members } else { &[] }
    }
    fn floats(&self) -> Vec<f64> {
        self.list().iter().map(Json::number).collect()
    }
    fn integers(&self) -> Vec<i64> {
        self.list().iter().map(|item| item.number() as i64).collect()
    }
}

/// JSON as the vectors have it: no escapes but \uXXXX, which are kept as they are.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Result<u8, String> {
        self.bytes.get(self.at).copied().ok_or("a line ends too early".to_string())
    }
    fn expect(&mut self, c: u8) -> Result<(), String> {
        if self.peek()? != c {
            return Err(format!("no {} where one is needed", c as char));
        }
        self.at += 1;
        Ok(())
    }
    fn ends(&mut self, c: u8) -> Result<bool, String> {
        if self.peek()? == b',' {
            self.at += 1;
        }
        let done = self.peek()? == c;
        self.at += done as usize;
        Ok(done)
    }
    fn quoted(&mut self) -> Result<String, String> {
        self.expect(b'"')?;
        let start = self.at;
        while self.peek()? != b'"' {
            self.at += 1;
        }
        self.at += 1;
        Ok(String::from_utf8_lossy(&self.bytes[start..self.at - 1]).into_owned())
    }
    fn value(&mut self) -> Result<Json, String> {
        Ok(match self.peek()? {
            b'{' => {
                self.at += 1;
                let mut members = Vec::new();
                while !self.ends(b'}')? {
                    let key = self.quoted()?;
                    self.expect(b':')?;
                    members.push((key, self.value()?));
                }
                Json::Object(members)
            }
            b'[' => {
                self.at += 1;
                let mut list = Vec::new();
                while !self.ends(b']')? {
                    list.push(self.value()?);
                }
                Json::List(list)
            }
            b'"' => Json::Text(self.quoted()?),
            b'n' => {
                self.at += 4;
                Json::Null
            }
            _ => {
                let start = self.at;
                while self.at < self.bytes.len() && !b",]}".contains(&self.bytes[self.at]) {
                    self.at += 1;
                }
                let text = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
                Json::Number(text.parse().map_err(|_| format!("no JSON value: {}", text))?)
            }
        })
    }
}

#[derive(Default)]
pub struct Runner {
    positions: BTreeMap<String, PositionVerifier>,
    trees: BTreeMap<(String, String), TreeVerifier>,
    float32: bool,
    checks: usize,
    right: usize,
    controls: usize,
    noticed: usize,
}

impl Runner {
    /// What verifies positions by a rule.
    pub fn position(mut self, rule: &str, verifier: impl Fn(&Position) -> Answer + 'static) -> Self {
        self.positions.insert(rule.to_string(), Box::new(verifier));
        self
    }
    /// What verifies chains, blocks, trees, traversals or whole trees.
    pub fn tree(mut self, kind: &str, rule: &str, verifier: impl Fn(&Tree) -> Vec<i64> + 'static) -> Self {
        self.trees.insert((kind.to_string(), rule.to_string()), Box::new(verifier));
        self
    }

    /// Arguments: the file of vectors, and --float32 to have laws in its decimals. Ends the process: 0 all answers are
    /// right and all known faults noticed; 1 not so; 2 it could not run.
    pub fn main(mut self) -> ! {
        let mut path = "vectors.jsonl".to_string();
        for argument in std::env::args().skip(1) {
            if argument == "--float32" {
                self.float32 = true;
            } else {
                path = argument;
            }
        }
        std::panic::set_hook(Box::new(|_| {})); // a verifier's panic is an answer, and printed as one
        let code = match self.read(&path) {
            Err(error) => {
                eprintln!("resispec: error: {}", error);
                2
            }
            Ok(()) if self.checks == 0 => {
                eprintln!("resispec: error: no record is of a kind and rule that a verifier was given for");
                2
            }
            Ok(()) => {
                let Runner { right, checks, noticed, controls, .. } = self;
                println!("{} of {} answers right; {} of {} known faults noticed", right, checks, noticed, controls);
                (right < checks || noticed < controls) as i32
            }
        };
        std::process::exit(code)
    }

    fn read(&mut self, path: &str) -> Result<(), String> {
        let file = std::fs::read_to_string(path).map_err(|error| format!("{}: {}", path, error))?;
        for line in file.lines() {
            let json = Reader { bytes: line.as_bytes(), at: 0 }.value()?;
            self.record(&json)?;
        }
        Ok(())
    }

    fn record(&mut self, r: &Json) -> Result<(), String> {
        let (kind, decimals) = (r.get("kind")?.text(), if self.float32 { "float32" } else { "float64" });
        if kind == "header" {
            return match r.get("format")?.number() as i64 {
                1 => Ok(()),
                _ => Err("vectors of another format: take the module of the same release".to_string()),
            };
        }
        if self.float32 && r.find("precision").map_or(false, |p| p.text() == "float64") {
            return Ok(());
        }
        let rule = r.get("rule")?.text();
        let position = self.positions.get(rule).filter(|_| kind == "position");
        let tree = self.trees.get(&(kind.to_string(), rule.to_string()));
        if position.is_none() && tree.is_none() {
            return Ok(());
        }
        let tokens = r.get("tokens")?.list();
        for (i, drafted) in tokens.iter().enumerate() {
            let uniforms = r.get("uniforms")?.list()[i].floats();
            let said = match (position, tree) {
                (Some(verifier), _) => {
                    let given = Position {
                        target: r.get("target")?.get(decimals)?.floats(),
                        draft: r.get("draft")?.get(decimals)?.floats(),
                        tokens: drafted.integers(),
                        uniforms: uniforms.clone(),
                    };
                    catch_unwind(AssertUnwindSafe(|| verifier(&given))).map(|(token, index)| (vec![token], index))
                }
                (_, Some(verifier)) => {
                    let given = as_tree(r, decimals, drafted.integers(), &uniforms)?;
                    catch_unwind(AssertUnwindSafe(|| verifier(&given))).map(|emitted| (emitted, None))
                }
                _ => unreachable!(),
            };
            let (wanted, index) = answer(r, r, i)?;
            self.checks += 1;
            if let Ok((given, at)) = &said {
                if *given == wanted && (at.is_none() || *at == index) {
                    self.right += 1;
                    continue;
                }
            }
            if self.checks - self.right <= 10 {
                let (id, x) = (r.get("id")?.text(), drafted.integers());
                let given = said.map_or("a panic".to_string(), |given| format!("{:?}", given));
                println!("{}: candidates {:?}, uniforms {:?}: {}, not {:?}", id, x, uniforms, given, (wanted, index));
            }
        }
        for (_, control) in r.get("controls")?.members() {
            self.controls += 1;
            for i in 0..tokens.len() {
                if answer(r, control, i)? != answer(r, r, i)? {
                    self.noticed += 1;
                    break;
                }
            }
        }
        Ok(())
    }
}

/// What a record, or one of its controls, has as the answer to check i: tokens, and the accepted index of a position.
fn answer(r: &Json, from: &Json, i: usize) -> Result<(Vec<i64>, Option<usize>), String> {
    if r.get("kind")?.text() != "position" {
        return Ok((from.get("emitted")?.list()[i].integers(), None));
    }
    let token = from.get("token")?.list()[i].number() as i64;
    Ok((vec![token], Some(from.get("accepted_index")?.list()[i].number() as usize)))
}

fn as_tree(r: &Json, decimals: &str, tokens: Vec<i64>, uniforms: &[f64]) -> Result<Tree, String> {
    let parents = r.get("parents")?.integers();
    let vocab = r.get("vocab")?.number() as i64;
    let rows = |name: &str| -> Result<Vec<Law>, String> {
        let tables = r.get(name)?.get(decimals)?.list();
        let (mut prefix, mut depth) = (vec![0i64], vec![0usize]);
        for (j, parent) in parents.iter().enumerate() {
            let above = prefix[(parent + 1) as usize];
            prefix.push(if above < 0 || tokens[j] < 0 { -1 } else { above * vocab + tokens[j] });
            depth.push(depth[(parent + 1) as usize] + 1);
        }
        let row = |(number, d): (&i64, &usize)| match tables.get(*d) {
            Some(table) if *number >= 0 => table.list()[*number as usize].floats(),
            _ => vec![0.0; vocab as usize], // the record has none
        };
        Ok(prefix.iter().zip(&depth).map(row).collect())
    };
    Ok(Tree {
        target: rows("target")?,
        draft: rows("draft")?,
        uniforms: uniforms.chunks(r.get("uniforms_in_a_row")?.number() as usize).map(<[f64]>::to_vec).collect(),
        end: if let Json::Number(end) = r.get("end")? { Some(*end as i64) } else { None },
        parents: parents.clone(),
        tokens: tokens.clone(),
    })
}
