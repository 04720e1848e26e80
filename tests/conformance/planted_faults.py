"""Ten faults planted in the example verifiers, one line each, in every language: what is replaced by what."""

PYTHON = {
    "always-accept": ("if uniforms[i] * draft[x] < target[x]:", "if True:"),
    "resample-from-target": ("target = residual / residual.sum()", "pass"),
    "residual-not-normalised": ("target = residual / residual.sum()", "target = residual"),
    "absolute-difference": ("np.maximum(target - draft, 0)", "np.abs(target - draft)"),
    "accepts-at-equality": ("if uniforms[i] * draft[x] < target[x]:", "if uniforms[i] * draft[x] <= target[x]:"),
    "ratio-times-1.01": ("if uniforms[i] * draft[x] < target[x]:", "if uniforms[i] * draft[x] < 1.01 * target[x]:"),
    "one-uniform-for-all-candidates": ("uniforms[i] * draft[x]", "uniforms[0] * draft[x]"),
    "absent-is-the-last-token": ("if x < 0:", "if False:"),
    "row-of-the-parent": ("position(target[node + 1],", "position(target[parents[node] + 1 if node >= 0 else 0],"),
    "end-token-ignored": (" or token == end:", ":"),
}
CPP = {
    "always-accept": ("if (given.uniforms[i] * draft[x] < target[x])", "if (true)"),
    "resample-from-target": ("whole += target[y] = std::max(target[y] - draft[y], 0.0);", "whole += target[y];"),
    "residual-not-normalised": ("mass /= whole;", "mass += 0 * whole;"),
    "absolute-difference": (
        "std::max(target[y] - draft[y], 0.0)",
        "std::max(target[y] - draft[y], draft[y] - target[y])",
    ),
    "accepts-at-equality": ("draft[x] < target[x]", "draft[x] <= target[x]"),
    "ratio-times-1.01": ("draft[x] < target[x]", "draft[x] < 1.01 * target[x]"),
    "one-uniform-for-all-candidates": ("given.uniforms[i] * draft[x]", "given.uniforms[0] * draft[x]"),
    "absent-is-the-last-token": (
        "const int x = given.tokens[i];",
        "int x = given.tokens[i]; if (x < 0) x = target.size() - 1;",
    ),
    "row-of-the-parent": ("here{given.target[node + 1],", "here{given.target[node < 0 ? 0 : given.parents[node] + 1],"),
    "end-token-ignored": (" || answer.token == given.end", ""),
}
RUST = {
    "always-accept": ("if given.uniforms[i] * draft[x as usize] < target[x as usize] {", "if true {"),
    "resample-from-target": (
        "target = residual.iter().map(|mass| mass / whole).collect();",
        "let _ = (whole, &mut target);",
    ),
    "residual-not-normalised": ("mass / whole", "mass + 0.0 * whole"),
    "absolute-difference": ("(p - q).max(0.0)", "(p - q).abs()"),
    "accepts-at-equality": ("draft[x as usize] < target[x as usize]", "draft[x as usize] <= target[x as usize]"),
    "ratio-times-1.01": ("draft[x as usize] < target[x as usize]", "draft[x as usize] < 1.01 * target[x as usize]"),
    "one-uniform-for-all-candidates": ("given.uniforms[i] * draft", "given.uniforms[0] * draft"),
    "absent-is-the-last-token": (
        "        if x < 0 {",
        "        let x = if x < 0 { target.len() as i64 - 1 } else { x };\n        if x < 0 {",
    ),
    "row-of-the-parent": (
        "target: given.target[(node + 1) as usize].clone(),",
        "target: given.target[if node < 0 { 0 } else { (given.parents[node as usize] + 1) as usize }].clone(),",
    ),
    "end-token-ignored": (" || Some(token) == given.end {", " {"),
}


def planted(source, change):
    """The source with one piece of it replaced."""
    old, new = change
    assert source.count(old) == 1, f"{old!r} is there {source.count(old)} times"
    return source.replace(old, new)
