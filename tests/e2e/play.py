"""Play one scenario against one version of the client through one entry point, and say what really happened."""

from __future__ import annotations

from typing import Protocol

from tests.e2e.acp import Acp
from tests.e2e.client_home import ClientHome
from tests.e2e.headless import Headless
from tests.e2e.provider import Conversation, Provider
from tests.e2e.scenario import Scenario, ScriptedPrompt
from tests.e2e.truth import End, RunTruth, TurnTruth


class Client(Protocol):
    def prompt(self, prompt: ScriptedPrompt) -> End: ...

    def close(self) -> None: ...


def _client(entry_point: str, home: ClientHome, provider: Provider) -> Client:
    return Headless(home, provider) if entry_point == "headless" else Acp(home, provider)


def play(scenario: Scenario, home: ClientHome, guard: str, entry_point: str) -> RunTruth:
    """RuntimeError where the run did not go as the script has it: the client hung, crashed or asked something else."""
    home.create()
    provider = Provider(home.marks)
    try:
        turns = _play_prompts(scenario, home, provider, entry_point)
        return RunTruth(home.version, guard, scenario.name, entry_point, turns, dict(provider.marks()))
    finally:
        provider.close()


def _play_prompts(scenario: Scenario, home: ClientHome, provider: Provider, entry_point: str) -> list[TurnTruth]:
    client = _client(entry_point, home, provider)
    turns: list[TurnTruth] = []
    try:
        for prompt in scenario.prompt:
            provider.begin(prompt)
            end = client.prompt(prompt)
            main, sub_agent = provider.end()
            if prompt.is_turn(entry_point):
                turns.append(TurnTruth(main.told, _seen_end(end, main), sub_agent.told))
    finally:
        client.close()
    return turns


def _seen_end(end: End, main: Conversation) -> End:
    """Told that all is well although the client never came back with the answers to the last calls: that is the silent stop."""
    stopped = bool(main.told) and any(call.done == "stop" for call in main.told[-1])
    return "silent-hang" if end == "completed" and stopped else end
