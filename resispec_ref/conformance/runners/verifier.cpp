// Replace the two verifiers by calls of your own, then:
//   g++ -std=c++17 -o verifier verifier.cpp && ./verifier vectors.jsonl
#include <algorithm>

#include "resispec_vectors.hpp"

using resispec::Answer;
using resispec::Law;
using resispec::Position;
using resispec::Tree;

// The first token whose running sum exceeds u of the whole, and never one without mass.
int first_beyond(const Law& law, double u) {
    double whole = 0, running = 0;
    for (double mass : law) whole += mass;
    int last = 0;
    for (size_t y = 0; y < law.size(); ++y) {
        running += law[y];
        if (law[y] > 0) {
            last = static_cast<int>(y);
            if (running > u * whole) return last;
        }
    }
    return last;
}

Answer position(const Position& given) {
    Law target = given.target;
    const Law& draft = given.draft;
    const int K = static_cast<int>(given.tokens.size());
    for (int i = 0; i < K; ++i) {
        const int x = given.tokens[i];
        if (x < 0) break;  // absent, and so are those after it
        if (given.uniforms[i] * draft[x] < target[x]) return {x, i};
        double whole = 0;
        for (size_t y = 0; y < target.size(); ++y) whole += target[y] = std::max(target[y] - draft[y], 0.0);
        for (double& mass : target) mass /= whole;
    }
    return {first_beyond(target, given.uniforms.back()), K};
}

std::vector<int> tree(const Tree& given) {
    std::vector<int> emitted;
    int node = -1;
    while (true) {
        std::vector<int> children;
        for (size_t j = 0; j < given.parents.size(); ++j)
            if (given.parents[j] == node) children.push_back(static_cast<int>(j));
        const auto& u = given.uniforms[emitted.size()];
        Position here{given.target[node + 1], given.draft[node + 1], {}, {u.begin(), u.begin() + children.size() + 1}};
        for (int child : children) here.tokens.push_back(given.tokens[child]);
        const Answer answer = position(here);
        emitted.push_back(answer.token);
        if (answer.accepted_index == static_cast<int>(children.size()) || answer.token == given.end) return emitted;
        node = children[answer.accepted_index];
    }
}

int main(int argc, char** argv) {
    return resispec::Runner()
        .position("recursive-rejection", position)
        .tree("chain", "recursive-rejection", tree)
        .tree("tree", "recursive-rejection", tree)
        .main(argc, argv);
}
