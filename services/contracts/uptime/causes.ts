import { getLocalNetworkHint } from '../macos-privacy.ts';

type FailureRule = readonly [pattern: RegExp, words: string | ((match: RegExpExecArray) => string)];

/** Error messages of failed checks, from libraries and Uptime Kuma, with explanations. The first match applies. */
const rules: readonly FailureRule[] = [
  [/\bE(?:NOTFOUND|NODATA|NONAME)\b(?: (\S+))?/, ([, name]) => `The name ${name ?? 'of it'} does not exist.`],
  [/\bEAI_AGAIN\b(?: (\S+))?/, ([, name]) => `The name ${name ?? 'of it'} could not be looked up just now.`],
  [/\bquery\w+ (?:ECONNREFUSED|ETIMEOUT|ESERVFAIL|EREFUSED)\b/, 'The name server gives no answer.'],
  [
    /\bECONNREFUSED\b(?: (\S+))?/,
    ([, at]) => `It refused the connection: nothing listens${at === undefined ? '' : ` at ${at}`}.`,
  ],
  [/\bE(?:CONNRESET|PIPE|CONNABORTED)\b|socket hang up/i, 'It broke off the connection.'],
  [
    /\bEHOST(?:UNREACH|DOWN)\b|Destination Host Unreachable/i,
    'It cannot be reached: no such device answers on the way.',
  ],
  [/\bE(?:NETUNREACH|NETDOWN|ADDRNOTAVAIL)\b|Network is unreachable/i, 'No network leads there from this machine.'],
  [/timeout of (\d+)ms exceeded/, ([, ms]) => `It did not answer within ${formatSeconds(Number(ms))}.`],
  [
    /\bno answer within (\S+) s\b/,
    ([, seconds]) => `It did not answer within ${formatSeconds(Number(seconds) * 1000)}.`,
  ],
  [/\bE?TIMEDOUT\b/, 'It did not answer in time.'],
  [/\bCERT_HAS_EXPIRED\b|certificate has expired/, 'Its certificate ran out.'],
  [
    /certificate is not trusted: ([^()]+?)(?: \(|$)/,
    ([, explanation]) => `Its certificate is not trusted: ${explanation ?? ''}.`,
  ],
  [/does not match certificate's altnames/, 'Its certificate is for another name.'],
  [/\bEPROTO\b|wrong version number|packet length too long/i, 'It does not speak TLS at this port.'],
  [/^Parse Error|\bHPE_/, 'What answers does not speak HTTP.'],
  [/Request failed with status code (\d+)/, ([, code]) => explainStatus(Number(code))],
  [/Unexpected server response: (\d+)/, ([, code]) => explainStatus(Number(code))],
  [/Maximum number of redirects exceeded/, 'It leads elsewhere again and again.'],
  [/but keyword is not in \[/, 'The keyword is not on the page.'],
  [/but keyword is present in \[/, 'The keyword that must not be there is on the page.'],
  [
    /JSON query does not pass \(comparing (.*) (\S+) (.*)\)$/s,
    ([, value, sign, wanted]) =>
      `The value is ${value ?? ''}; it should be ${sign === '==' ? '' : `${sign ?? ''} `}${wanted ?? ''}.`,
  ],
  [/No heartbeat in the time window/, 'The job has not reported in time.'],
  [/Child monitors down: (.*)$/s, ([, names]) => `Down in this group: ${names ?? ''}.`],
  [/Child monitors pending: (.*)$/s, ([, names]) => `Not known yet in this group: ${names ?? ''}.`],
  [/Container State is (.*)$/, ([, state]) => `The container does not run: ${state ?? ''}.`],
  [/Container is in a paused state/, 'The container is paused.'],
  [/Container is unhealthy/, 'The container runs, but its own check says that it is not well.'],
  [/Flip UP to DOWN/, 'It answers, and should not.'],
];

/**
 * Explains the message of a failed check; undefined when it needs no explanation or is unknown.
 * @param platform System of the computer that runs the checks, if it is known.
 */
export function explainFailure(msg: string, platform = ''): string | undefined {
  for (const [pattern, words] of rules) {
    const match = pattern.exec(msg);
    if (match === null) continue;
    const explanation = typeof words === 'string' ? words : words(match);
    const hint = /\bEHOSTUNREACH\b/.test(msg) ? getLocalNetworkHint(msg, platform) : '';
    return `${explanation} ${hint}`.trim();
  }
  return undefined;
}

function explainStatus(code: number): string {
  if (code === 401 || code === 407) return `It asks for a sign-in (${String(code)}).`;
  if (code === 403) return 'It refuses to show the page (403).';
  if (code === 404 || code === 410) return `There is no such page (${String(code)}).`;
  if (code === 429) return 'It is asked too often (429).';
  if (code >= 500) return `It reports a fault on its side (${String(code)}).`;
  if (code >= 300 && code < 400) return `It leads elsewhere (${String(code)}).`;
  return `It answered ${String(code)}, which this monitor does not accept.`;
}

function formatSeconds(ms: number): string {
  const seconds = Math.round(ms / 100) / 10;
  return seconds === 1 ? 'a second' : `${String(seconds)} seconds`;
}
