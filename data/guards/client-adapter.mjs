// The guard of a Qwen Code package itself, as a guard for loopscope: node client-adapter.mjs --pkg DIR
//
// DIR is an installed @qwen-code/qwen-code, or a working copy that was built (its dist/ will do). No code of the client stands
// here. Its bundle keeps the guard's functions private, so the chunk that defines them is found by a function's name, written out
// once more under a name of this process's own with an export added, imported, and removed again. The order in which the
// client's front ends call the functions is below: first whether the batch trips, then call by call.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const FIND_TRIP = 'findRepeatedDuplicateProviderToolCall';
const IS_REPLAY = 'isReplayOfHandledToolCall';
const KEY = 'getToolCallRepeatKey';

const at = process.argv.indexOf('--pkg');
const folder = resolve(at > 0 ? (process.argv[at + 1] ?? '.') : '.');

function chunkThatDefines(name) {
  for (const chunks of [join(folder, 'chunks'), join(folder, 'dist', 'chunks')].filter(existsSync)) {
    for (const file of readdirSync(chunks).filter((file) => file.endsWith('.js')).sort()) {
      const source = readFileSync(join(chunks, file), 'utf8');
      if (source.includes(`function ${name}(`)) return { chunks, file, source };
    }
  }
  throw new Error(`no chunk below ${folder} defines ${name}`);
}

async function functionsOfClient() {
  const { chunks, file, source } = chunkThatDefines(FIND_TRIP);
  const there = [FIND_TRIP, IS_REPLAY, KEY].filter((name) => new RegExp(`^function ${name}\\(`, 'm').test(source));
  const copy = join(chunks, `${file}.${process.pid}.mjs`);
  writeFileSync(copy, `${source}\nexport { ${there.map((name) => `${name} as guard_${name}`).join(', ')} };\n`);
  try {
    const module = await import(pathToFileURL(copy).href);
    return Object.fromEntries(there.map((name) => [name, module[`guard_${name}`]]));
  } finally {
    rmSync(copy, { force: true });
  }
}

const client = await functionsOfClient();
const comparesArguments = client[IS_REPLAY] !== undefined;
const keyOf = ({ name, arguments: args }) => client[KEY](name, args ?? {});
const idOf = (call) => call.id ?? undefined;

function decide(calls) {
  const withId = calls.filter((call) => call.id !== null);
  const answered = new Set(withId.filter((call) => call.answered > 0).map(idOf));
  let handled, isRepeat;
  if (comparesArguments) {
    handled = new Map(withId.filter((call) => call.handled.length > 0).map((call) => [call.id, keyOf(call.handled[0])]));
    isRepeat = (call) => call.id !== null && client[IS_REPLAY](handled, call.id, keyOf(call));
  } else {
    handled = new Set(withId.filter((call) => call.is_handled).map(idOf));
    isRepeat = (call) => call.id !== null && handled.has(call.id);
  }
  const trips = client[FIND_TRIP](calls, idOf, comparesArguments ? isRepeat : handled, answered);
  if (trips) return calls.map((call) => (call === trips ? 'trip' : 'drop'));
  return calls.map((call) => (isRepeat(call) ? 'suppress' : 'execute'));
}

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === 'hello') {
    const about = `the functions of ${folder}, by ${comparesArguments ? 'id and arguments' : 'id alone'}`;
    say({ type: 'hello', protocol: 1, name: 'client', about, arguments: comparesArguments ? 'canonical' : 'none' });
  } else if (message.type === 'batch') {
    say({ type: 'decisions', session: message.session, batch: message.batch, decisions: decide(message.calls) });
  }
}
process.exit(0); // the bundle keeps timers alive
