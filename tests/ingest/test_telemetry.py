"""What an OpenTelemetry SDK hears of a run, and that without one nothing of it is loaded."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

RECORDINGS = Path(__file__).parents[2] / "data" / "recordings" / "0.24.4"

PROGRAM = """
import json, sys
from pathlib import Path
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

spans, numbers = InMemorySpanExporter(), InMemoryMetricReader()
tracing = TracerProvider()
tracing.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(tracing)
metrics.set_meter_provider(MeterProvider([numbers]))

from cli.engine import run_ingest
summary = run_ingest([Path(sys.argv[1])], Path(sys.argv[2]), workers=1)

told = {}
for resource in numbers.get_metrics_data().resource_metrics:
    for scope in resource.scope_metrics:
        for metric in scope.metrics:
            for point in metric.data.data_points:
                key = ",".join([metric.name, *map(str, point.attributes.values())])
                told[key] = getattr(point, "value", None) if hasattr(point, "value") else point.count
parents = {span.context.span_id: span.name for span in spans.get_finished_spans()}
spans = [[span.name, parents.get(span.parent.span_id) if span.parent else None] for span in spans.get_finished_spans()]
print(json.dumps({"metrics": told, "spans": spans, "summary": [summary.read, summary.bytes_read, summary.records,
    summary.calls, summary.problems, summary.sessions_analysed], "findings": summary.findings}))
"""


def test_an_sdk_hears_stages_and_counts(tmp_path: Path) -> None:
    shutil.copytree(RECORDINGS / "b_true_replay", tmp_path / "logs")
    (tmp_path / "logs" / "broken.jsonl").write_text(
        '{"uuid":"u","parentUuid":null,"sessionId":"s","type":"user",'
        '"message":{"role":"user","parts":[]}}\nbroken\n{"uuid":"v","parentUuid":"u","sessionId":"s","type":"system"}\n'
    )
    command = [sys.executable, "-W", "error", "-c", PROGRAM, str(tmp_path / "logs"), str(tmp_path / "store.duckdb")]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    read, read_bytes, records, calls, problems, sessions = told["summary"]
    assert (calls, problems) == (3, 1)
    counted = told["metrics"]
    assert counted["loopscope.files,read"] == read
    assert counted["loopscope.files,gone"] == 0
    assert counted["loopscope.bytes"] == read_bytes
    assert counted["loopscope.records"] == records
    assert counted["loopscope.calls"] == calls
    assert counted["loopscope.problems"] == problems
    assert counted["loopscope.sessions,analysed"] == sessions
    assert {kind: counted[f"loopscope.findings,{kind}"] for kind in told["findings"]} == told["findings"]
    stages = {"discover", "plan", "read", "analyse", "publish"}
    assert {stage: counted[f"loopscope.stage.duration,{stage}"] for stage in stages} == dict.fromkeys(stages, 1)
    spans = dict(told["spans"])
    assert len(spans) == len(told["spans"])
    assert spans == {"loopscope.ingest": None} | {f"loopscope.{stage}": "loopscope.ingest" for stage in stages}


def test_where_nobody_listens_nothing_is_loaded(tmp_path: Path) -> None:
    shutil.copytree(RECORDINGS / "b_true_replay", tmp_path / "logs")
    program = (
        "import sys; from pathlib import Path; from cli.engine import run_ingest\n"
        f"run_ingest([Path({str(tmp_path / 'logs')!r})], Path({str(tmp_path / 'store.duckdb')!r}), workers=1)\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry', 'watchfiles'))])"
    )
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert told == "[]\n"
