import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { notify } from '../../../services/notify/index.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, openReceiver, type Receiver } from './support.ts';

interface Delivered {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}
interface Case {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | null;
  };
  readonly response: { readonly status: number; readonly type: string; readonly body: unknown };
  readonly delivered: readonly Delivered[];
  /** Where we answer differently on purpose. */
  readonly ours?: {
    readonly because: string;
    readonly status: number;
    readonly error?: string | null;
    readonly type?: string;
    readonly message?: string;
    readonly title?: string;
    readonly paths?: readonly string[];
  };
}

const recordedPort = '28190';
const cases = JSON.parse(readFileSync(new URL('recorded.json', import.meta.url), 'utf8')) as readonly Case[];

const demo = `# demo
critical,oncall=json://127.0.0.1:${recordedPort}/critical-oncall
daily=json://127.0.0.1:${recordedPort}/daily
backup,daily=json://127.0.0.1:${recordedPort}/backup-daily
monitoring=json://127.0.0.1:${recordedPort}/monitoring
json://127.0.0.1:${recordedPort}/untagged
`;
const everywhere = ['/backup-daily', '/critical-oncall', '/daily', '/monitoring', '/untagged'];
const failing = `a=json://127.0.0.1:${recordedPort}/ok
b,a=json://127.0.0.1:${recordedPort}/__status/500
c=json://127.0.0.1:1/refused
`;

describe('recorded exchanges of the peer', () => {
  let host: TestHost;
  let receiver: Receiver;

  const add = async (key: string, fields: Readonly<Record<string, unknown>>): Promise<void> => {
    const reply = await fetch(`${host.url('notify')}/add/${key}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields).replaceAll(recordedPort, String(receiver.port)),
    });
    expect(reply.status).toBe(200);
  };

  beforeAll(async () => {
    receiver = await openReceiver();
    host = await openTestHost({ services: [notify, createProbe(['inbox', 'push']).descriptor] });
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await add('aggregator', { config: demo, format: 'text' });
    for (const key of ['aggurls', 'aggurls2']) {
      await add(key, { urls: [`json://127.0.0.1:${recordedPort}/u1`, `json://127.0.0.1:${recordedPort}/u2`] });
    }
  });

  it.each(cases.map((each) => [each.name, each] as const))(
    '%s',
    async (name, { request, response, delivered, ours }) => {
      // A destination that failed before is not waited for again, so each case has its own.
      const here = (text: string): string =>
        text.replaceAll(recordedPort, String(receiver.port)).replace(/__status\/\d+/, `$&/${name}`);
      if (name.startsWith('fail')) await add('aggfail', { config: here(failing), format: 'text' });
      receiver.received.length = 0;
      // Recorded before the key was there.
      const path = name.includes('missing') ? request.path.replace('aggregator', 'nobody') : request.path;
      const { body } = request;
      const bytes = name.includes('invalid-utf8') ? Buffer.from(body ?? '', 'latin1') : Buffer.from(here(body ?? ''));
      // A string body would make fetch add a Content-Type.
      const reply = await fetch(host.url('notify') + path, {
        method: request.method,
        headers: request.headers,
        ...(body === null ? {} : { body: bytes }),
      });
      const text = await reply.text();

      expect(reply.status).toBe(ours?.status ?? response.status);
      const notified = path.startsWith('/notify') && [200, 424].includes(reply.status);
      if (reply.status === 405) expect([text, reply.headers.has('allow')]).toEqual(['', true]);
      else if (reply.status === 204) expect(text).toBe('');
      else if (reply.headers.get('content-type') === 'application/json') {
        const answer = JSON.parse(text) as {
          error?: unknown;
          details?: unknown;
          urls?: { id?: string }[];
          tags?: string[];
        };
        const recorded = response.body as typeof answer;
        if (ours === undefined) expect(response.type).toBe('application/json');
        if (ours !== undefined || notified) expect(answer.error).toBe(ours === undefined ? recorded.error : ours.error);
        else if (answer.urls !== undefined) {
          const plain = ({ tags, urls }: typeof answer) => [tags?.toSorted(), urls?.map(({ id: _, ...rest }) => rest)];
          expect(plain(answer)).toEqual(plain(JSON.parse(here(JSON.stringify(recorded))) as typeof answer));
        } else expect(answer).toEqual(JSON.parse(here(JSON.stringify(recorded))));
        if (notified) expect(answer.details).toBeInstanceOf(Array);
      } else if (reply.headers.get('content-type')?.startsWith('text/html')) {
        expect(text).toMatch(/^<ul class="logs">(<li class="log_INFO"><div class="log_time">.*)*\n<\/ul>$/);
        expect(response.type).toMatch(/^text\/html/);
      } else if (notified) {
        expect(text).toMatch(/^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} \[(INFO|WARNING|ERROR)\] apprise: .+\n)*$/);
      } else if (ours === undefined) {
        expect(text).toBe(here(String(response.body)));
      }

      if (!notified) return;
      // What earlier cases left waiting is tried again meanwhile.
      const received = receiver.received.filter(({ path: to }) => !to.startsWith('/__status') || to.endsWith(name));
      const paths = received.map((each) => each.path.replace(`/${name}`, '')).toSorted();
      const keyless = path === '/notify' || path === '/notify/';
      const tagged = keyless || delivered.every((each) => each.path !== '/untagged');
      if (ours?.paths !== undefined) expect(paths).toEqual(ours.paths);
      else if (!tagged || (ours !== undefined && delivered.length === 0 && !name.startsWith('fail')))
        expect(paths).toEqual(everywhere);
      else expect(paths).toEqual(delivered.map((each) => each.path).toSorted());
      for (const each of received) {
        const sent = JSON.parse(each.body) as Record<string, unknown>;
        if (delivered[0] !== undefined) expect(sent).toEqual(delivered[0].body);
        for (const field of ['type', 'message', 'title'] as const) {
          if (ours?.[field] !== undefined) expect(sent[field]).toBe(ours[field]);
        }
      }
    },
  );
});
