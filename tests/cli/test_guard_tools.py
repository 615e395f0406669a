"""`guard check`, `guard fixture` and `guard run` as commands."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import RECORDINGS, Loopscope
from tests.cli.recordings import session_of

PROGRAM = Path(__file__).with_name("guards.py")
GUARDS = RECORDINGS.parent / "guards"
H2 = session_of("0.21.10/h2_two_prompts_same_id_diff_args.acp")


class TestCheck:
    def test_a_guard_that_keeps_what_is_asked(self, loopscope: Loopscope) -> None:
        answer = loopscope("guard", "check", "any-fingerprint", "--require=all", "--format=json")
        assert answer.code == 0
        assert {row["kept"] for row in answer.json()} == {True}
        assert "it breaks: none" in answer.err

    def test_a_policy_rule_counts_where_it_is_required(self, loopscope: Loopscope) -> None:
        assert loopscope("guard", "check", "fingerprint").code == 0
        answer = loopscope("guard", "check", "fingerprint", "--require=collision-runs,later-counts")
        assert (answer.code, "it breaks: later-counts" in answer.out) == (1, True)

    def test_a_rule_for_all_counts_always(self, loopscope: Loopscope) -> None:
        answer = loopscope("guard", "check", shlex.join([sys.executable, str(PROGRAM), "crash", "answers"]), "--format=csv")
        assert answer.code == 1
        assert "answers,must,False," in answer.out
        assert "it ended with exit code 7" in answer.out

    @pytest.mark.parametrize("arguments", [("/no/such/program",), ("none", "--require=nonsense"), ("fingerprint:x=1",), ("",)])
    def test_a_mistake(self, arguments: tuple[str, ...], loopscope: Loopscope) -> None:
        answer = loopscope("guard", "check", *arguments)
        assert (answer.code, answer.out) == (2, "")


class TestFixture:
    def test_it_replays_to_what_it_tells(self, loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
        file = tmp_path / "case.json"
        answer = loopscope("guard", "fixture", f"{H2}:2.1.1", "-o", file, "--db", recorded)
        assert (answer.code, answer.out) == (0, "")
        assert answer.err == f"{file}: id-breaker decides suppress, fingerprint execute, 3 steps\n"
        rows = loopscope("guard", "run", "--fixture", file, "id-breaker", "fingerprint", "--format=json").json()
        assert [(row["guard"], row["decision"], row["agrees"]) for row in rows] == [
            ("id-breaker", "execute", True),
            ("id-breaker", "suppress", True),
            ("fingerprint", "execute", True),
            ("fingerprint", "execute", True),
        ]

    def test_all_guards_where_none_is_named_and_others_too(self, loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
        file = tmp_path / "case.json"
        loopscope("guard", "fixture", H2, "-o", file, "--db", recorded)
        two = ("--guard", "two=id-breaker:threshold=2", "--guard", f"mine={GUARDS / 'my_guard.py'}:ReadsAreFree")
        rows = loopscope("guard", "run", "--fixture", file, *two, "--format=json").json()
        last = {row["guard"]: row["decision"] for row in rows if row["response"] == 2}
        assert last["two"] == last["id-breaker"] == "suppress"
        assert last["mine"] == last["none"] == "execute"
        assert {row["agrees"] for row in rows if row["guard"] == "two"} == {None}

    def test_a_guard_that_changed_does_not_agree(self, loopscope: Loopscope, recorded: Path, tmp_path: Path) -> None:
        file = tmp_path / "case.json"
        loopscope("guard", "fixture", H2, "-o", file, "--db", recorded)
        case = json.loads(file.read_bytes())
        case["decisions"]["fingerprint"] = [["execute"], ["trip"]]
        file.write_text(json.dumps(case))
        answer = loopscope("guard", "run", "--fixture", file, "fingerprint")
        assert "As expected on 1 of 2 decisions that the file tells." in answer.out

    def test_on_standard_output(self, loopscope: Loopscope, recorded: Path) -> None:
        case = loopscope("guard", "fixture", H2, "--db", recorded).json()
        assert (case["format"], case["format_version"], case["client_version"]) == ("loopscope-guard-case", 1, "0.21.10")

    def test_between_other_guards(self, loopscope: Loopscope, recorded: Path) -> None:
        a4 = session_of("0.24.4/a4_replay_second_many.acp")
        more = ("--between", "fingerprint", "any", "--guard", "any=fingerprint:compare=any")
        case = loopscope("guard", "fixture", a4, *more, "--db", recorded).json()
        assert case["decisions"] == {
            "fingerprint": [["execute"], ["execute"], ["execute"]],
            "any": [["execute"], ["execute"], ["suppress"]],
        }

    def test_no_difference_is_no_data(self, loopscope: Loopscope, recorded: Path) -> None:
        answer = loopscope("guard", "fixture", f"{H2}:1", "--db", recorded)
        assert (answer.code, answer.out) == (3, "")
        assert "do not differ in turn 1 as a fact" in answer.err
        assert loopscope("guard", "fixture", "nonsense", "--db", recorded).code == 3

    @pytest.mark.parametrize("between", [("in-force", "none"), ("nonsense", "none")])
    def test_no_such_guard(self, between: tuple[str, str], loopscope: Loopscope, recorded: Path) -> None:
        assert loopscope("guard", "fixture", H2, "--between", *between, "--db", recorded).code == 2

    def test_a_file_that_is_none(self, loopscope: Loopscope, tmp_path: Path) -> None:
        file = tmp_path / "case.json"
        file.write_text("{}")
        answer = loopscope("guard", "run", "--fixture", file)
        assert (answer.code, "it is no test case" in answer.err) == (2, True)


class TestRun:
    def test_a_row_a_session(self, loopscope: Loopscope, recorded: Path) -> None:
        session_id = session_of("0.24.4/a2_diff_args_then_replay_first")
        answer = loopscope(
            "guard", "run", "fingerprint", "id-breaker", "--session", session_id, "--format=json", "--db", recorded
        )
        rows = {row["guard"]: row for row in answer.json()}
        assert answer.code == 0
        counts = ("calls", "execute", "suppress", "trip", "observed", "first_divergence", "differs_from_in_force")
        # In force was fingerprint: run, run, answered, stopped.
        assert [rows["fingerprint"][name] for name in counts] == [4, 2, 1, 1, 4, None, 0]
        assert [rows["id-breaker"][name] for name in counts] == [3, 1, 1, 1, 2, "1.2.1", 1]
        assert [rows[name]["counterfactual"] for name in ("fingerprint", "id-breaker")] == [0, 1]

    def test_the_sentence_sums_facts_apart_from_what_would_have_been(self, loopscope: Loopscope, recorded: Path) -> None:
        """Recording a2 as above: A runs, B is answered where it ran in fact, and from then on it is another history."""
        session_id = session_of("0.24.4/a2_diff_args_then_replay_first")
        answer = loopscope("guard", "run", "id-breaker", "--session", session_id, "--format=csv", "--db", recorded)
        assert answer.err == (
            "id-breaker: 3 calls in 1 session. Facts: 1 execute, 1 suppress, 0 trip, 0 drop; 1 of them other than the guard in "
            "force decided. Counterfactual, after it left what was done: 0 execute, 0 suppress, 1 trip, 0 drop. Unknown: 0. "
            "Failed in 0 sessions.\n"
        )

    def test_all_calls_are_facts_counterfactual_or_unknown(self, loopscope: Loopscope, recorded: Path) -> None:
        rows = loopscope("guard", "run", "id-breaker", "args-dedup", "--format=json", "--db", recorded).json()
        assert sum(row["counterfactual"] for row in rows) > 0
        for row in rows:
            assert row["calls"] == sum(row[name] for name in ("execute", "suppress", "trip", "drop", "unknown"))
            assert row["observed"] == sum(row[f"observed_{name}"] for name in ("execute", "suppress", "trip", "drop"))
            assert row["observed"] <= row["calls"] - row["counterfactual"] <= row["observed"] + row["unknown"]

    def test_a_what_if_decides_as_the_stock_guard_it_is(self, loopscope: Loopscope, recorded: Path) -> None:
        """Over all recordings: also in the sessions that were skipped because no id came twice in them."""
        more = ("--guard", "mine=fingerprint:threshold=1")
        answer = loopscope("guard", "diff", "fingerprint", "mine", *more, "--format=json", "--db", recorded)
        pairs = [row for row in answer.json() if row["section"] == "pair"]
        assert all(row["same"] for row in pairs)
        total = loopscope("sql", "SELECT count(*) AS n FROM calls WHERE echo_of IS NULL", "--format=json", "--db", recorded)
        assert sum(row["calls"] for row in pairs) == total.json()[0]["n"]

    def test_a_guard_in_python(self, loopscope: Loopscope, recorded: Path) -> None:
        """Recordings j and j2: the same search again, which reads."""
        more = ("--guard", f"mine={GUARDS / 'my_guard.py'}:ReadsAreFree")
        answer = loopscope("guard", "diff", "fingerprint", "mine", *more, "--format=json", "--db", recorded)
        examples = [row for row in answer.json() if row["section"] == "example"]
        searches = {session_of(f"0.24.4/{name}") for name in ("j2_alias_first", "j_alias_replay")}
        assert {row["call"].partition(":")[0] for row in examples} == searches
        assert {(row["class"], *row["changes"]) for row in examples} == {("replay", "released", "replay-let-through")}

    def test_long_arguments_come_from_the_log_or_are_unknown(self, loopscope: Loopscope, tmp_path: Path) -> None:
        from tests.support.log_script import Log, Prompt, Use, answered
        from tests.support.qwen_log import qwen_log

        log = tmp_path / "projects" / "p" / "chats" / "5a5a5a5a-0000-4000-8000-000000000000.jsonl"
        log.parent.mkdir(parents=True)
        long = Use("x", {"command": "echo " + "y" * 3000})
        log.write_bytes(qwen_log(log.stem, Log((Prompt(), answered(long), answered(long)))))
        db = tmp_path / "store.duckdb"
        assert loopscope("ingest", log, "--db", db).code == 0
        guard = ("--guard", f"mine={shlex.join([sys.executable, str(PROGRAM), 'none', 'none'])}")
        run = ("guard", "run", *guard, "--format=json", "--db", db)
        (row,) = loopscope(*run).json()
        assert (row["execute"], row["unknown"]) == (2, 0)
        log.unlink()
        answer = loopscope(*run)
        (row,) = answer.json()
        assert (row["execute"], row["unknown"]) == (1, 1)
        assert f"Arguments missing: {log} cannot be read any more: No such file or directory (2 calls)" in answer.err

    def test_no_guard_is_a_mistake(self, loopscope: Loopscope, recorded: Path) -> None:
        assert loopscope("guard", "run", "--db", recorded).code == 2
        assert loopscope("guard", "run", "nonsense", "--db", recorded).code == 2
        assert loopscope("guard", "run", "--guard", "fingerprint=id-only", "--db", recorded).code == 2
        assert loopscope("guard", "run", "--guard", "in-force=id-only", "--db", recorded).code == 2
        assert loopscope("guard", "run", "--guard", "a=id-only", "--guard", "a=none", "--db", recorded).code == 2
        assert loopscope("guard", "run", "--guard", "nonsense", "--db", recorded).code == 2

    def test_nothing_to_run_on(self, loopscope: Loopscope, recorded: Path) -> None:
        answer = loopscope("guard", "run", "fingerprint", "--model=other", "--format=json", "--db", recorded)
        assert (answer.code, answer.json()) == (3, [])


def test_show_takes_a_place_as_it_is_printed(loopscope: Loopscope, recorded: Path) -> None:
    (story,) = loopscope("show", f"{H2}:2.1.1", "--format=json", "--db", recorded).json()
    assert [turn["turn_no"] for turn in story["turns"]] == [2]
    assert loopscope("show", f"{H2}:9", "--db", recorded).code == 3
