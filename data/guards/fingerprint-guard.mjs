// A guard for loopscope in JavaScript: the same call under an id that was handled before is answered and not run; if the model
// then sends it once more, the turn ends. It keeps no state, since each batch says what was handled and answered.
//
//   loopscope guard check 'node fingerprint-guard.mjs'
//   loopscope guard diff fingerprint mine --guard mine='node fingerprint-guard.mjs'
import { createInterface } from 'node:readline';

const NEW_NAMES = { search_file_content: 'grep_search', replace: 'edit', task: 'agent' };

/** Text that is equal for two calls exactly if they ask for the same. */
function key({ name, arguments: args }) {
  const sorted = (value) => {
    if (Array.isArray(value)) return value.map(sorted);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.keys(value).sort().map((member) => [member, sorted(value[member])]));
  };
  return `${Object.hasOwn(NEW_NAMES, name) ? NEW_NAMES[name] : name}:${JSON.stringify(sorted(args ?? {}))}`;
}

function decide(calls) {
  const repeats = calls.map((call) => call.handled.length > 0 && key(call.handled[0]) === key(call));
  const trips = calls.findIndex((call, index) => repeats[index] && call.answered > 0);
  if (trips >= 0) return calls.map((_, index) => (index === trips ? 'trip' : 'drop'));
  return repeats.map((repeat) => (repeat ? 'suppress' : 'execute'));
}

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === 'hello') say({ type: 'hello', protocol: 1, name: 'fingerprint-guard', about: 'id, name and arguments' });
  if (message.type === 'batch') {
    say({ type: 'decisions', session: message.session, batch: message.batch, decisions: decide(message.calls) });
  }
}
