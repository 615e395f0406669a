// Answers questions with the functions of an installed Qwen Code: node ask_client.mjs PACKAGE QUESTIONS ANSWERS
//
// QUESTIONS and ANSWERS are files of one JSON value a line (a pipe would lose what is unwritten when node exits). The client is a
// bundle whose chunks export little, so the chunk that defines the guard is looked up by a function's name, a copy of it that also
// exports what is wanted is written beside it, and that is imported. No code of the client stands here: what does is the order in
// which its front ends call these functions, which `make e2e` holds against whole runs.
//
// {"ask": "key", "tool": T, "text": JSON}  -> {key, canonical, logged}: the repeat key of a call whose arguments the model sent as
//     this text, what the key is made of, and the arguments as the client's log would hold them.
// {"ask": "session", "entry": E, "steps": [...]} -> {records, decisions}: the log that a session of these steps leaves, and what the
//     client's guard decides of each call. E is `daemon` or `headless`. A step is one of
//     {"prompt": "user" | "cron" | "notification"}
//     {"calls": [{id, tool, args, end}]}  one response; end is what becomes of a call that is run: ok, error or lost (never answered)
//     {"echo": [{back, tool, args, end}]}  the same, the ids being those of earlier calls as the model got to see them
//     {"compress": N}  the history is replaced by its last N calls with their answers
//     {"rewind": N}  the last N user prompts are taken back
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , packageFolder, questionsFile, answersFile] = process.argv;
const LANDMARK = 'findRepeatedDuplicateProviderToolCall';
const NAMES = [
  LANDMARK, 'getToolCallRepeatKey', 'canonicalizeForHash', 'isReplayOfHandledToolCall', 'recordHandledToolCall',
  'duplicateProviderToolCallMessage', 'normalizeModelToolCallIds', 'getProviderToolCallId', 'collectToolCallIdsFromHistory',
  'repairOrphanedToolUseTurns', 'buildSessionHistoryFromConversation', 'buildApiHistoryFromConversation', 'SessionService',
  'LlmChat', 'GeminiChat',
];

async function clientFunctions() {
  const chunks = join(packageFolder, 'chunks');
  const isDefinedIn = (source, name) => new RegExp(`^(?:async function|function|var|class) ${name}\\b`, 'm').test(source);
  for (const name of readdirSync(chunks).filter((file) => file.endsWith('.js'))) {
    const source = readFileSync(join(chunks, name), 'utf8');
    if (!isDefinedIn(source, LANDMARK)) continue;
    const there = NAMES.filter((wanted) => isDefinedIn(source, wanted));
    const copy = join(chunks, `${name}.asked.mjs`);
    writeFileSync(copy, `${source}\nexport { ${there.map((wanted) => `${wanted} as asked_${wanted}`).join(', ')} };\n`);
    const module = await import(pathToFileURL(copy).href);
    return Object.fromEntries(there.map((wanted) => [wanted, module[`asked_${wanted}`]]));
  }
  throw new Error(`no chunk in ${chunks} defines ${LANDMARK}`);
}

const client = await clientFunctions();
const Chat = client.LlmChat ?? client.GeminiChat;
const comparesArguments = client.isReplayOfHandledToolCall !== undefined;

const repeatKey = (tool, args) => client.getToolCallRepeatKey(tool, args ?? {});

function key({ tool, text }) {
  const args = JSON.parse(text);
  return { key: repeatKey(tool, args), canonical: JSON.stringify(client.canonicalizeForHash(args ?? {})), logged: JSON.stringify(args) };
}

class Session {
  constructor(entry) {
    this.entry = entry;
    this.records = [];
    this.decisions = [];
    this.history = [];
    this.tip = null;
    this.version = comparesArguments ? '0.24.4' : '0.21.10';
  }

  log(record) {
    const uuid = `u${this.records.length + 1}`;
    const time = new Date(1_796_000_000_000 + this.records.length * 1000).toISOString();
    const parentUuid = record.parentUuid === undefined ? this.tip : record.parentUuid;
    const common = { uuid, parentUuid, sessionId: 'asked', timestamp: time, cwd: '/workspace/demo', version: this.version };
    this.records.push(structuredClone({ ...common, ...record, parentUuid })); // the history is repaired in place
    this.tip = uuid;
  }

  say(content, record) {
    this.history.push(content);
    this.log({ ...record, message: content });
  }

  reload() {
    const { messages } = Object.create(client.SessionService.prototype).reconstructHistory(this.records);
    const build = client.buildSessionHistoryFromConversation ?? client.buildApiHistoryFromConversation;
    const built = build({ messages: structuredClone(messages) }, {});
    this.history = built.apiHistory ?? built;
  }

  handledInHistory() {
    const asked = { history: this.history };
    return comparesArguments
      ? Chat.prototype.getHistoryToolCallFingerprints.call(asked)
      : Chat.prototype.getHistoryFunctionResponseIds.call(asked);
  }

  prompt(origin) {
    this.isStopped = false;
    if (this.entry === 'headless') this.reload(); // each prompt is a process of its own
    client.repairOrphanedToolUseTurns(this.history);
    this.handled = this.handledInHistory();
    if (origin === 'user' || this.entry === 'headless') this.answered = new Set();
    const subtype = origin === 'user' ? {} : { subtype: origin };
    this.say({ role: 'user', parts: [{ text: 'go on' }] }, { type: 'user', ...subtype });
    const snapshot = this.entry === 'headless' ? 'attribution_snapshot' : 'file_history_snapshot';
    if (origin === 'user') this.log({ type: 'system', subtype: snapshot, systemPayload: {} });
  }

  respond(calls) {
    if (this.isStopped) return;
    const used = client.collectToolCallIdsFromHistory(this.history);
    const sent = calls.map(({ id, tool, args }) => ({ functionCall: { ...(id ? { id } : {}), name: tool, args } }));
    const parts = client.normalizeModelToolCallIds(sent, used, new Set(), undefined);
    const items = parts.map(({ functionCall }) => ({
      recorded: functionCall.id,
      raw: client.getProviderToolCallId(functionCall),
      tool: functionCall.name,
      args: functionCall.args,
      end: calls[sent.findIndex((part) => part.functionCall.args === functionCall.args)].end,
    }));
    const decided = this.decide(items);
    this.say({ role: 'model', parts }, { type: 'assistant', model: 'asked' });
    items.forEach((item, part) => {
      this.decisions.push({ uuid: this.tip, part, raw: item.raw ?? null, decision: decided[part] });
    });
    items.forEach((item, part) => this.answer(item, decided[part]));
  }

  decide(items) {
    const isDaemon = this.entry === 'daemon';
    const handled = isDaemon ? this.handledInHistory() : this.handled;
    // Headless takes its own id for a call that came without one; the daemon has nothing to compare then.
    const idOf = (item) => item.raw ?? (isDaemon ? undefined : item.recorded);
    const repeats = (item) => {
      if (!idOf(item)) return false;
      if (!comparesArguments) return handled.has(idOf(item));
      return client.isReplayOfHandledToolCall(handled, idOf(item), repeatKey(item.tool, item.args));
    };
    const tripping = client[LANDMARK](items, idOf, comparesArguments ? repeats : handled, this.answered);
    if (tripping) {
      this.isStopped = true;
      return items.map((item) => (item === tripping ? 'trip' : 'drop'));
    }
    return items.map((item) => {
      if (repeats(item)) {
        this.answered.add(idOf(item));
        return 'suppress';
      }
      if (idOf(item) && comparesArguments) client.recordHandledToolCall(handled, idOf(item), repeatKey(item.tool, item.args));
      else if (idOf(item)) handled.add(idOf(item));
      return 'execute';
    });
  }

  answer(item, decision) {
    if (decision === 'trip' || decision === 'drop') {
      if (this.entry === 'daemon' && comparesArguments) this.logSkipped(item);
      return;
    }
    if (decision === 'execute' && item.end === 'lost') {
      this.isStopped = true; // the process ended while the tool ran
      return;
    }
    const error = decision === 'suppress' ? client.duplicateProviderToolCallMessage(item.raw ?? item.recorded) : 'it failed';
    const isFine = decision === 'execute' && item.end === 'ok';
    const response = isFine ? { output: 'done' } : { error };
    const told = { callId: item.recorded, status: isFine ? 'success' : 'error', resultDisplay: isFine ? 'done' : error };
    if (!isFine) Object.assign(told, { error: {}, errorType: 'execution_failed' });
    told.executionStatus = decision === 'suppress' ? 'not_started' : told.status;
    const content = { role: 'user', parts: [{ functionResponse: { id: item.recorded, name: item.tool, response } }] };
    this.say(content, { type: 'tool_result', toolCallResult: told });
  }

  logSkipped({ recorded, tool }) {
    const error = 'Skipped because loop detection stopped the current turn before this tool call could run.';
    const message = { role: 'user', parts: [{ functionResponse: { id: recorded, name: tool, response: { error } } }] };
    const told = { callId: recorded, status: 'error', resultDisplay: error, error: {}, errorType: 'unknown', executionStatus: 'not_started' };
    this.log({ type: 'tool_result', toolCallResult: told, message }); // and not into the history: the repair answers there
  }

  echo(calls) {
    const ids = this.history.flatMap(({ parts }) => parts.flatMap((part) => part.functionCall?.id ?? []));
    this.respond(calls.map(({ back, ...call }) => ({ ...call, id: ids.at(-back) ?? 'fresh' })));
  }

  compress(kept) {
    const calls = this.history.flatMap((content) => content.parts.filter((part) => part.functionCall)).slice(-kept || Infinity);
    const compressedHistory = [{ role: 'user', parts: [{ text: 'a summary' }] }];
    for (const part of calls) {
      const { id, name } = part.functionCall;
      const response = { output: 'done' };
      compressedHistory.push({ role: 'model', parts: [part] }, { role: 'user', parts: [{ functionResponse: { id, name, response } }] });
    }
    this.log({ type: 'system', subtype: 'chat_compression', systemPayload: { info: {}, compressedHistory } });
    this.history = structuredClone(compressedHistory);
  }

  rewind(count) {
    const { messages } = Object.create(client.SessionService.prototype).reconstructHistory(this.records);
    const prompt = messages.filter((record) => record.type === 'user' && record.subtype === undefined).at(-count);
    if (prompt === undefined) return;
    this.log({ type: 'system', subtype: 'rewind', systemPayload: { truncatedCount: count }, parentUuid: prompt.parentUuid });
    this.reload();
    this.isStopped = true; // what follows is a new prompt
  }
}

function session({ entry, steps }) {
  const played = new Session(entry);
  for (const step of steps) {
    const [[what, value]] = Object.entries(step);
    played[what === 'calls' ? 'respond' : what](value);
  }
  return { records: played.records, decisions: played.decisions };
}

const askable = { key, session };
const answers = readFileSync(questionsFile, 'utf8').split('\n').filter(Boolean).map((line) => {
  const question = JSON.parse(line);
  return JSON.stringify(askable[question.ask](question));
});
writeFileSync(answersFile, answers.map((answer) => `${answer}\n`).join(''));
process.exit(0); // the bundle keeps timers alive
