//! Replace the two verifiers by calls of your own, then:
//!   rustc -O -o verifier verifier.rs && ./verifier vectors.jsonl
mod resispec_vectors;

use resispec_vectors::{Answer, Position, Runner, Tree};

/// The first token whose running sum exceeds u of the whole, and never one without mass.
fn first_beyond(law: &[f64], u: f64) -> i64 {
    let whole: f64 = law.iter().sum();
    let (mut running, mut last) = (0.0, 0);
    for (y, mass) in law.iter().enumerate() {
        running += mass;
        if *mass > 0.0 {
            last = y as i64;
            if running > u * whole {
                break;
            }
        }
    }
    last
}

fn position(given: &Position) -> Answer {
    let (mut target, draft) = (given.target.clone(), &given.draft);
    for (i, &x) in given.tokens.iter().enumerate() {
        if x < 0 {
            break; // absent, and so are those after it
        }
        if given.uniforms[i] * draft[x as usize] < target[x as usize] {
            return (x, Some(i));
        }
        let residual: Vec<f64> = target.iter().zip(draft).map(|(p, q)| (p - q).max(0.0)).collect();
        let whole: f64 = residual.iter().sum();
        target = residual.iter().map(|mass| mass / whole).collect();
    }
    (first_beyond(&target, *given.uniforms.last().unwrap()), Some(given.tokens.len()))
}

fn tree(given: &Tree) -> Vec<i64> {
    let (mut emitted, mut node) = (Vec::new(), -1);
    loop {
        let children: Vec<usize> = (0..given.parents.len()).filter(|&j| given.parents[j] == node).collect();
        let here = Position {
            target: given.target[(node + 1) as usize].clone(),
            draft: given.draft[(node + 1) as usize].clone(),
            tokens: children.iter().map(|&child| given.tokens[child]).collect(),
            uniforms: given.uniforms[emitted.len()][..children.len() + 1].to_vec(),
        };
        let (token, index) = position(&here);
        emitted.push(token);
        if index == Some(children.len()) || Some(token) == given.end {
            return emitted;
        }
        node = children[index.unwrap()] as i64;
    }
}

fn main() {
    Runner::default()
        .position("recursive-rejection", position)
        .tree("chain", "recursive-rejection", tree)
        .tree("tree", "recursive-rejection", tree)
        .main()
}
