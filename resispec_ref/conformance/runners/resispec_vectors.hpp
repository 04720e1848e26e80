// Conformance vectors of resispec-ref in C++17, without dependencies: reads vectors.jsonl, calls your verifier with its
// inputs, prints what differs. See verifier.cpp for its use. Copy it freely.
#pragma once

#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace resispec {

using Law = std::vector<double>;

// One position: laws over the vocabulary, candidates in the order of their draw (-1: absent, and so are those after
// it), and uniforms, one a candidate and the last for the last draw.
struct Position {
    Law target, draft;
    std::vector<int> tokens;
    std::vector<double> uniforms;
};

// The token emitted, and which candidate was accepted: the number of candidates if none was, or NOT_SAID.
constexpr int NOT_SAID = -2;
struct Answer {
    int token, accepted_index;
};

// A tree of drafted tokens: the parent of each node (-1: the root); rows after the root and after each node, the root's
// first; uniforms, row by row. A chain is a tree in which node i is the parent of node i + 1.
struct Tree {
    std::vector<Law> target, draft;
    std::vector<int> parents, tokens;
    std::vector<std::vector<double>> uniforms;
    int end;  // the end token, -1 if there is none
};

namespace detail {

struct Json {
    enum Kind { Null, Number, Text, List, Object } kind = Null;
    double number = 0;
    std::string text;
    std::vector<Json> list;
    std::vector<std::pair<std::string, Json>> members;

    bool has(const std::string& key) const {
        for (const auto& member : members)
            if (member.first == key) return true;
        return false;
    }
    const Json& operator[](const std::string& key) const {
        for (const auto& member : members)
            if (member.first == key) return member.second;
        throw std::runtime_error("a record has no field " + key);
    }
};

// JSON as the vectors have it: no escapes but \uXXXX, which are kept as they are.
class Reader {
   public:
    explicit Reader(const std::string& line) : at(line.c_str()), end(line.c_str() + line.size()) {}

    Json value() {
        Json found;
        if (at == end) throw std::runtime_error("a line ends too early");
        if (*at == '{') {
            found.kind = Json::Object;
            for (++at; *at != '}'; skip(',')) {
                std::string key = quoted();
                expect(':');
                found.members.emplace_back(key, value());
            }
            ++at;
        } else if (*at == '[') {
            found.kind = Json::List;
            for (++at; *at != ']'; skip(',')) found.list.push_back(value());
            ++at;
        } else if (*at == '"') {
            found.kind = Json::Text;
            found.text = quoted();
        } else if (*at == 'n') {
            at += 4;
        } else {
            char* after = nullptr;
            found.kind = Json::Number;
            found.number = std::strtod(at, &after);
            if (after == at) throw std::runtime_error("no JSON value: " + std::string(at, end).substr(0, 20));
            at = after;
        }
        return found;
    }

   private:
    const char *at, *end;

    void expect(char c) {
        if (at == end || *at != c) throw std::runtime_error(std::string("no ") + c + " where one is needed");
        ++at;
    }
    void skip(char c) {
        if (at != end && *at == c) ++at;
    }
    std::string quoted() {
        expect('"');
        std::string found;
        while (at != end && *at != '"') found += *at++;
        expect('"');
        return found;
    }
};

template <class T>
std::vector<T> numbers(const Json& json) {
    std::vector<T> found;
    for (const auto& item : json.list) found.push_back(static_cast<T>(item.number));
    return found;
}

template <class T>
std::string text(const std::vector<T>& values) {
    std::ostringstream out;
    out << "[";
    for (size_t i = 0; i < values.size(); ++i) out << (i ? ", " : "") << values[i];
    return out.str() + "]";
}

// The rows after the root and after each node; zeros where the record has none.
inline std::vector<Law> rows(const Json& tables, const std::vector<int>& parents, const std::vector<int>& tokens,
                             int vocab) {
    std::vector<long> prefix{0};
    std::vector<size_t> depth{0};
    for (size_t j = 0; j < parents.size(); ++j) {
        long above = prefix[parents[j] + 1];
        prefix.push_back(above < 0 || tokens[j] < 0 ? -1 : above * vocab + tokens[j]);
        depth.push_back(depth[parents[j] + 1] + 1);
    }
    std::vector<Law> found(prefix.size(), Law(vocab, 0.0));
    for (size_t i = 0; i < prefix.size(); ++i)
        if (prefix[i] >= 0 && depth[i] < tables.list.size())
            found[i] = numbers<double>(tables.list[depth[i]].list[prefix[i]]);
    return found;
}

}  // namespace detail

class Runner {
   public:
    // What verifies positions by a rule, and what verifies chains, blocks, trees, traversals or whole trees.
    Runner& position(const std::string& rule, std::function<Answer(const Position&)> verifier) {
        positions[rule] = std::move(verifier);
        return *this;
    }
    Runner& tree(const std::string& kind, const std::string& rule,
                 std::function<std::vector<int>(const Tree&)> verifier) {
        trees[{kind, rule}] = std::move(verifier);
        return *this;
    }

    // Arguments: the file of vectors, and --float32 to have laws in its decimals. Returns 0 if all answers are right and
    // all known faults noticed, 1 if not so, 2 if it could not run.
    int main(int argc, char** argv) {
        std::string path = "vectors.jsonl";
        for (int i = 1; i < argc; ++i) {
            if (std::string(argv[i]) == "--float32") decimals = "float32";
            else path = argv[i];
        }
        try {
            std::ifstream file(path);
            if (!file) throw std::runtime_error(path + ": cannot be read");
            std::string line;
            while (std::getline(file, line)) record(detail::Reader(line).value());
        } catch (const std::exception& error) {
            std::cerr << "resispec: error: " << error.what() << "\n";
            return 2;
        }
        if (checks == 0) {
            std::cerr << "resispec: error: no record is of a kind and rule that a verifier was given for\n";
            return 2;
        }
        std::cout << right << " of " << checks << " answers right; " << noticed << " of " << controls
                  << " known faults noticed\n";
        return right == checks && noticed == controls ? 0 : 1;
    }

   private:
    using Json = detail::Json;
    std::map<std::string, std::function<Answer(const Position&)>> positions;
    std::map<std::pair<std::string, std::string>, std::function<std::vector<int>(const Tree&)>> trees;
    std::string decimals = "float64";
    long checks = 0, right = 0, controls = 0, noticed = 0, shown = 0;

    void record(const Json& r) {
        const std::string& kind = r["kind"].text;
        if (kind == "header") {
            if (r["format"].number != 1)
                throw std::runtime_error("vectors of another format: take the header of the same release");
            return;
        }
        if (r.has("precision") && r["precision"].text == "float64" && decimals == "float32") return;
        const std::string& rule = r["rule"].text;
        const bool is_position = kind == "position";
        if (is_position ? !positions.count(rule) : !trees.count({kind, rule})) return;
        for (size_t i = 0; i < r["tokens"].list.size(); ++i) {
            ++checks;
            std::string given;
            try {
                given = is_position ? answer(r, i, positions[rule]) : answer(r, i, trees[{kind, rule}]);
            } catch (const std::exception& error) {
                given = error.what();
            }
            const std::string wanted = expected(r, r, i, given);
            if (given == wanted) ++right;
            else if (shown++ < 10)
                std::cout << r["id"].text << ": candidates " << detail::text(detail::numbers<int>(r["tokens"].list[i]))
                          << ", uniforms " << detail::text(detail::numbers<double>(r["uniforms"].list[i])) << ": "
                          << given << ", not " << wanted << "\n";
        }
        for (const auto& control : r["controls"].members) {
            ++controls;
            for (size_t i = 0; i < r["tokens"].list.size(); ++i)
                if (expected(r, control.second, i, "") != expected(r, r, i, "")) {
                    ++noticed;
                    break;
                }
        }
    }

    // What a record, or one of its controls, has as the answer to check i, in words; the index only if `given` has it.
    static std::string expected(const Json& r, const Json& from, size_t i, const std::string& given) {
        if (r["kind"].text != "position") return detail::text(detail::numbers<int>(from["emitted"].list[i]));
        const Answer found{static_cast<int>(from["token"].list[i].number),
                           static_cast<int>(from["accepted_index"].list[i].number)};
        const bool said = given.empty() || given.find(" at ") != std::string::npos;
        return words({found.token, said ? found.accepted_index : NOT_SAID});
    }
    static std::string words(const Answer& a) {
        const std::string token = "token " + std::to_string(a.token);
        return a.accepted_index == NOT_SAID ? token : token + " at " + std::to_string(a.accepted_index);
    }

    std::string answer(const Json& r, size_t i, const std::function<Answer(const Position&)>& verifier) const {
        using detail::numbers;
        return words(verifier({numbers<double>(r["target"][decimals]), numbers<double>(r["draft"][decimals]),
                               numbers<int>(r["tokens"].list[i]), numbers<double>(r["uniforms"].list[i])}));
    }
    std::string answer(const Json& r, size_t i, const std::function<std::vector<int>(const Tree&)>& verifier) const {
        Tree tree;
        const int vocab = static_cast<int>(r["vocab"].number);
        tree.parents = detail::numbers<int>(r["parents"]);
        tree.tokens = detail::numbers<int>(r["tokens"].list[i]);
        tree.target = detail::rows(r["target"][decimals], tree.parents, tree.tokens, vocab);
        tree.draft = detail::rows(r["draft"][decimals], tree.parents, tree.tokens, vocab);
        tree.end = r["end"].kind == Json::Null ? -1 : static_cast<int>(r["end"].number);
        const size_t width = static_cast<size_t>(r["uniforms_in_a_row"].number);
        const auto flat = detail::numbers<double>(r["uniforms"].list[i]);
        for (size_t start = 0; start < flat.size(); start += width)
            tree.uniforms.emplace_back(flat.begin() + start, flat.begin() + start + width);
        return detail::text(verifier(tree));
    }
};

}  // namespace resispec
