import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { notify } from '../../../services/notify/index.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { differences } from './differences.ts';
import { createProbe, openReceiver, type Received, type Receiver } from './support.ts';

interface Exchange {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | null;
  };
  readonly response: { readonly status: number; readonly type: string; readonly body: unknown };
  readonly delivered: readonly { readonly path: string; readonly body: Readonly<Record<string, unknown>> | null }[];
}
interface Listing {
  readonly tags?: readonly string[];
  readonly urls?: readonly { readonly id?: string }[];
}
interface Schema {
  readonly service_name: string;
  readonly protocols: readonly string[];
  readonly secure_protocols: readonly string[];
}

const recordedPort = '28190';
const folder = new URL('golden/', import.meta.url);
const exchanges = readdirSync(folder).map(
  (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Exchange,
);

const configurations = {
  demo: `# demo
critical,oncall=json://127.0.0.1:${recordedPort}/critical-oncall
daily=json://127.0.0.1:${recordedPort}/daily
backup,daily=json://127.0.0.1:${recordedPort}/backup-daily
monitoring=json://127.0.0.1:${recordedPort}/monitoring
json://127.0.0.1:${recordedPort}/untagged
`,
  failing: `a=json://127.0.0.1:${recordedPort}/ok
b,a=json://127.0.0.1:${recordedPort}/__status/500
c=json://127.0.0.1:1/refused
`,
  emojis: `json://127.0.0.1:${recordedPort}/emo?emojis=yes\n`,
};
const yaml = exchanges.find(({ name }) => name === 'add-yaml-json')?.request.body ?? '';
const everywhere = ['/backup-daily', '/critical-oncall', '/daily', '/monitoring', '/untagged'];

/** Completes a long body, which was recorded by its beginning and length; the rest repeats its last character. */
function normalizeBody(body: string, json: boolean): string {
  const [, start, length] = /^(.*)…\((\d+) chars\)$/s.exec(body) ?? [];
  if (start === undefined) return body;
  const end = json ? '"}' : '';
  return start.padEnd(Number(length) - end.length, start.at(-1)) + end;
}

/** Returns the settings of Apprise API during the recording. */
function getSettingsName({ name }: Exchange): 'usual' | 'locked' | 'chosen' {
  if (name.startsWith('lock-')) return 'locked';
  return ['api-only-root-421', 'env-stateless-default-urls', 'attach-url-allowed'].includes(name) ? 'chosen' : 'usual';
}

describe.each(['usual', 'locked', 'chosen'] as const)(
  'recorded exchanges of Apprise API with %s settings',
  (settings) => {
    let host: TestHost;
    let receiver: Receiver;

    const replacePort = (text: string): string => text.replaceAll(recordedPort, String(receiver.port));
    const post = (path: string, body: string): Promise<Response> =>
      fetch(`${host.url('notify')}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: replacePort(body),
      });
    const add = async (key: string, fields: Readonly<Record<string, unknown>>): Promise<void> => {
      expect((await post(`/add/${key}`, JSON.stringify(fields))).status).toBe(200);
    };

    beforeAll(async () => {
      receiver = await openReceiver();
      const services = [notify, createProbe(['inbox', 'push']).descriptor];
      host = await openTestHost({ services });
      await add('aggregator', { config: configurations.demo, format: 'text' });
      if (settings === 'usual') return;
      const { dataDir } = host;
      // The lock would refuse the preparation.
      await host.host[Symbol.asyncDispose]();
      const environment = {
        APPRISE_WEBHOOK_URL: `http://127.0.0.1:${receiver.port}/results`,
        ...(settings === 'locked' ? { APPRISE_CONFIG_LOCK: 'yes' } : {}),
        ...(settings === 'chosen'
          ? { APPRISE_API_ONLY: 'yes', APPRISE_STATELESS_URLS: `json://127.0.0.1:${receiver.port}/envdefault` }
          : {}),
      };
      if (settings === 'chosen') {
        const chosen = 'version: 1\nservices:\n  notify:\n    attachmentHosts: [127.0.0.1]\n';
        writeFileSync(join(dataDir, 'homeport.yaml'), chosen);
      }
      host = await openTestHost({ services, dataDir, environment });
    });
    afterAll(async () => {
      await host[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    });
    beforeEach(async () => {
      if (settings !== 'usual') return;
      await add('aggregator', { config: configurations.demo, format: 'text' });
      await add('aggesc', { config: configurations.emojis, format: 'text' });
      expect((await post('/add/aggyaml', yaml)).status).toBe(200);
      for (const key of ['aggurls', 'aggurls2']) {
        await add(key, { urls: [`json://127.0.0.1:${recordedPort}/u1`, `json://127.0.0.1:${recordedPort}/u2`] });
      }
    });

    /** Returns the recorded response, or the intended difference. */
    const checkAnswer = (exchange: Exchange, reply: Response, text: string, notified: boolean): void => {
      const { name, response } = exchange;
      const difference = differences[name];
      const recorded: unknown = JSON.parse(replacePort(JSON.stringify(response.body)));
      const type = reply.headers.get('content-type') ?? '';
      if (reply.status === 405) return expect([text, reply.headers.has('allow')]).toEqual(['', true]);
      if (reply.status === 204) return expect(text).toBe('');
      if (type !== 'application/json') {
        if (difference === undefined) expect(response.type.startsWith(type.replace(/;.*/, ''))).toBe(true);
        if (type.startsWith('text/html') && notified) {
          return expect(text).toMatch(/^<ul class="logs">(<li class="log_INFO"><div class="log_time">.*)*\n<\/ul>$/);
        }
        if (notified) {
          return expect(text).toMatch(
            /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} \[(INFO|WARNING|ERROR)\] apprise: .+\n)*$/,
          );
        }
        if (name === 'metrics-text') return expect(text).toContain('aggregator_notifications_sent_total');
        if (difference === undefined) expect(text).toBe(recorded);
        return;
      }
      const answer = JSON.parse(text) as Listing & { readonly error?: unknown; readonly details?: unknown };
      if (difference === undefined) expect(response.type).toBe('application/json');
      if (name === 'details-json-excerpt') return checkCatalogue(answer, recorded);
      if (difference !== undefined || notified) {
        expect(answer.error ?? null).toBe(
          difference === undefined ? (recorded as typeof answer).error : (difference.error ?? null),
        );
      } else if (answer.urls !== undefined) {
        const toComparable = ({ tags, urls }: Listing) => [tags?.toSorted(), urls?.map(({ id: _, ...rest }) => rest)];
        expect(toComparable(answer)).toEqual(toComparable(recorded as Listing));
      } else expect(answer).toEqual(recorded);
      if (notified) expect(answer.details).toBeInstanceOf(Array);
    };

    const checkDelivered = ({ name, delivered, request }: Exchange, received: readonly Received[]): void => {
      const difference = differences[name];
      const paths = received.map(({ path }) => path.replace(`/${name}`, '')).toSorted();
      const keyless = /^\/notify\/?(\?|$)/.test(request.path);
      // Without a tag, Apprise API notifies only untagged destinations; Homeport notifies all.
      const untagged = !keyless && delivered.some(({ path }) => path === '/untagged');
      const refused = difference !== undefined && delivered.length === 0 && !name.startsWith('fail');
      if (difference?.paths !== undefined) expect(paths).toEqual(difference.paths);
      else if (untagged || refused) expect(paths).toEqual(everywhere);
      else expect(paths).toEqual(delivered.map(({ path }) => path.replace(/\?.*/, '')).toSorted());
      const [expected] = delivered;
      for (const { path, body } of received) {
        if (path === '/results') {
          expect(JSON.parse(body)).toMatchObject({
            status: 0,
            output: [['INFO', expect.any(String), expect.any(String)]],
          });
          continue;
        }
        if (path.startsWith('/pic.bin')) continue;
        const sent = JSON.parse(body) as Record<string, unknown>;
        if (difference === undefined && expected !== undefined && typeof expected.body === 'object')
          expect(sent).toEqual(expected.body);
        for (const field of ['type', 'message', 'title'] as const) {
          if (difference?.[field] !== undefined) expect(sent[field]).toBe(difference[field]);
        }
      }
    };

    it.each(
      exchanges.filter((entry) => getSettingsName(entry) === settings).map((entry) => [entry.name, entry] as const),
    )('replays %s', async (name, exchange) => {
      const { request, response, delivered } = exchange;
      // Each case has its own destinations, because a destination that failed is not attempted immediately again.
      const addressCase = (text: string): string => replacePort(text).replace(/__status\/\d+/, `$&/${name}`);
      if (name.startsWith('fail'))
        await add('aggfail', { config: addressCase(configurations.failing), format: 'text' });
      receiver.received.length = 0;
      // The exchange was recorded before the key existed.
      const path = /^(?!map).*missing/.test(name) ? request.path.replace('aggregator', 'nobody') : request.path;
      const json = request.headers['Content-Type'] === 'application/json';
      const body = request.body === null ? null : normalizeBody(request.body, json);
      const binary = name.includes('invalid-utf8') || name === 'attach-multipart';
      // A string body would make fetch add a Content-Type.
      const reply = await fetch(host.url('notify') + path, {
        method: request.method,
        headers: request.headers,
        ...(body === null ? {} : { body: binary ? Buffer.from(body, 'latin1') : Buffer.from(addressCase(body)) }),
      });
      const text = await reply.text();
      expect(reply.status).toBe(differences[name]?.status ?? response.status);
      const notified = path.startsWith('/notify') && [200, 424].includes(reply.status);
      checkAnswer(exchange, reply, text, notified);
      if (!notified) return;
      if (delivered.some(({ path: to }) => to === '/results')) {
        await expect.poll(() => receiver.received.some(({ path: to }) => to === '/results')).toBe(true);
      }
      // Waiting notifications of earlier cases are retried in the meantime.
      const received = receiver.received.filter(({ path: to }) => !to.startsWith('/__status') || to.endsWith(name));
      checkDelivered(
        exchange,
        received.map((entry) => ({ ...entry, path: entry.path.replace(/\?.*/, '') })),
      );
    });
  },
);

/** Compares the catalog with the recorded format, and the recorded kinds with their schemes. */
function checkCatalogue(answer: unknown, recorded: unknown): void {
  const { schemas } = answer as { schemas: readonly Schema[] };
  const peer = recorded as { schemas: readonly Schema[] };
  expect(Object.keys(answer as object)).toEqual(expect.arrayContaining(['version', 'schemas', 'asset']));
  for (const entry of peer.schemas) {
    const sameKind = schemas.find(({ service_name }) => service_name === entry.service_name);
    if (sameKind === undefined) continue;
    // Homeport's catalog also lists the implementation.
    expect(Object.keys(sameKind).toSorted()).toEqual([...Object.keys(entry), 'served_by'].toSorted());
    expect([sameKind.protocols, sameKind.secure_protocols]).toEqual([entry.protocols, entry.secure_protocols]);
  }
}
