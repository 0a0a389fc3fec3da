import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NotificationType, TextFormat } from '../../../../services/contracts/notify/notification.ts';
import { parseDestinationUrl } from '../../../../services/notify/destinations/url.ts';
import { answers } from './provider-responses.ts';
import { ofGot, ofRecorded, type Comparable, type RecordedRequest } from './compare.ts';
import { differences, skip } from './differences.ts';
import { openProvider, parsed, sendTo, type Provider } from './provider-server.ts';

interface Recorded {
  readonly note: string;
  readonly url: string;
  readonly normal: string;
  readonly masked: string;
  readonly cases: readonly {
    readonly case: string;
    readonly input: { title: string; body: string; notify_type: NotificationType; body_format: TextFormat };
    readonly requests: readonly RecordedRequest[];
  }[];
}

const folder = new URL('golden/', import.meta.url);
/** Kinds with other protocols, which have separate suites. */
const testedElsewhere = ['mailto.json', 'rsyslog.json'];
const recorded = readdirSync(folder)
  .filter((file) => !testedElsewhere.includes(file))
  .flatMap((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Recorded[]);
const long = '0123456789'.repeat(900);
const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let provider: Provider;
beforeAll(async () => {
  provider = await openProvider();
});
afterAll(() => provider[Symbol.asyncDispose]());

/** Returns the parts of a URL that identify the destination, without defaults of Apprise. */
function toLocation(url: string) {
  const { scheme, user, password, host, port, path, query } = parseDestinationUrl(url) ?? {};
  return { scheme, user, password, host, port, path, query: Object.fromEntries(query ?? []) };
}

function inOrder(requests: readonly Comparable[]): readonly Comparable[] {
  return requests.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}

describe.each(recorded.map((entry) => [entry.note, entry] as const))(
  'recorded: %s',
  (note, { url, normal, masked, cases }) => {
    const allowed = differences[note] ?? differences[note.split(' ')[0] ?? ''] ?? {};

    it('normalizes URLs like Apprise, and masks the same parts', () => {
      const actual = toLocation(parsed(url).url(false));
      const peers = toLocation(normal);
      if (allowed['url'] !== skip) {
        expect({ ...actual, query: {} }).toEqual({ ...peers, query: {} });
        // Homeport may mask more than Apprise, never less.
        const displayed = parsed(url).url(true);
        for (const secret of secretsIn(normal, masked)) expect(displayed).not.toContain(secret);
      }
      const reparsed = parsed(parsed(url).url(false));
      expect(reparsed.url(false)).toBe(parsed(url).url(false));
      expect(reparsed.url(true)).toBe(parsed(url).url(true));
    });

    it.each(
      cases
        .filter((entry) => allowed[entry.case] !== skip && allowed['all'] !== skip)
        .map((entry) => [entry.case, entry] as const),
    )('sends %s like Apprise', async (name, { input, requests }) => {
      provider.requests.length = 0;
      provider.answer = (request) => answers(request);
      const file = { name: 'dot.png', type: 'image/png', size: dot.length, read: () => Promise.resolve(dot) };
      const message = {
        title: input.title,
        body: input.body.replace('{{long}}', long),
        type: input.notify_type,
        format: input.body_format,
        ...(name === 'attach' ? { attachments: [file] } : {}),
      };
      // The normalized URL is equivalent to its source.
      const stored = parsed(url).url(false);
      const requestedUrl = name === 'long' ? stored.replace(/overflow=\w+/, 'overflow=upstream') : stored;
      // A signature contains the time, so it must be equal at the recorded time.
      const stamp = requests[0]?.headers?.['x-amz-date']?.replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:') ?? '';
      const clock = stamp === '' ? provider.outlets.clock : { ...provider.outlets.clock, now: () => Date.parse(stamp) };
      const results = await sendTo(requestedUrl, message, { ...provider.outlets, clock });
      expect(results.filter(({ ok }) => !ok)).toEqual([]);
      const change =
        [allowed[name], allowed['all']].find((entry) => typeof entry === 'function') ??
        ((entry: readonly Comparable[]) => entry);
      const filled = JSON.parse(JSON.stringify(requests).replaceAll('{{long}}', long)) as RecordedRequest[];
      const expected = change(filled.map(ofRecorded), name);
      expect(provider.requests.every(({ headers }) => headers['user-agent'] === 'Homeport')).toBe(true);
      expect(inOrder(provider.requests.map(ofGot))).toEqual(inOrder(expected));
    });
  },
);

/** Returns the parts of a normalized URL that its masked form hides. */
function secretsIn(normal: string, masked: string): readonly string[] {
  const parts = (text: string) => text.split(/[/?&=@:]+/).filter((part) => part.length > 3);
  const displayedParts = new Set(parts(masked));
  return parts(normal).filter((part) => !displayedParts.has(part));
}
