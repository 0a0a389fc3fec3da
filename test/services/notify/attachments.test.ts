import { once } from 'node:events';
import { connect } from 'node:net';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { notificationOffered } from '../../../services/contracts/notify/notification.ts';
import { toFileName, detectMediaType } from '../../../services/notify/attachments/file-name.ts';
import { notify } from '../../../services/notify/index.ts';
import { createFakeClock } from '../../support/clock.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, openReceiver, type Offers, type Receiver } from './support.ts';

let open: AsyncDisposableStack;
let receiver: Receiver;
let host: TestHost;
let offers: Offers;

beforeEach(async () => {
  open = new AsyncDisposableStack();
  receiver = open.use(await openReceiver());
  const probe = createProbe(['inbox', 'push']);
  offers = probe.offers;
  host = open.use(await openTestHost({ services: [probe.descriptor, keepingNothing] }));
  await post('/add/files', { urls: `json://127.0.0.1:${receiver.port}/files`, format: 'text' });
});
afterEach(() => open.disposeAsync());

/** Notify service without space for stored files. */
const keepingNothing: typeof notify = {
  ...notify,
  create: (context, settings) => notify.create(context, { ...settings, keptFilesBytes: 0 }),
};

function post(path: string, fields: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(host.url('notify') + path, { method: 'POST', headers, body: JSON.stringify(fields) });
}

function form(files: readonly (readonly [name: string, bytes: Uint8Array<ArrayBuffer>])[]): FormData {
  const fields = new FormData();
  fields.append('body', 'with files');
  for (const [name, bytes] of files) fields.append('file', new Blob([bytes]), name);
  return fields;
}

const folder = (testHost = host): string => join(testHost.dataDir, 'notify', 'attachments');
/** Lists complete files and uploads in progress. */
const listFiles = (): readonly string[] =>
  readdirSync(folder(), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

interface Sent {
  readonly message: string;
  readonly attachments: readonly { readonly filename: string; readonly base64: string; readonly mimetype: string }[];
}
const sent = (): readonly Sent[] => receiver.received.map(({ body }) => JSON.parse(body) as Sent);

describe('files of a notification', () => {
  it('delivers files complete and in order to each destination, and deletes them after the last delivery', async () => {
    const large = new Uint8Array(2 * 1024 * 1024).map((_, index) => index % 251);
    const png = Uint8Array.from(Buffer.from('89504e470d0a1a0a00', 'hex'));
    const files = [
      ['big.bin', large],
      ['../../evil.PNG', png],
      ['leer.txt', new Uint8Array()],
    ] as const;
    await post('/add/two', {
      urls: `json://127.0.0.1:${receiver.port}/a, json://127.0.0.1:${receiver.port}/b, push://hall`,
    });
    const reply = await fetch(`${host.url('notify')}/notify/two`, { method: 'POST', body: form(files) });
    expect(reply.status).toBe(200);
    await vi.waitFor(() => expect(receiver.received.map(({ path }) => path).toSorted()).toEqual(['/a', '/b']), 15_000);
    for (const { attachments } of sent()) {
      expect(attachments.map(({ filename, mimetype }) => [filename, mimetype])).toEqual([
        ['big.bin', 'application/octet-stream'],
        ['evil.PNG', 'image/png'],
        ['leer.txt', 'text/plain'],
      ]);
      expect(Buffer.from(attachments[0]?.base64 ?? '', 'base64').equals(large)).toBe(true);
    }
    await vi.waitFor(() => expect([...offers.push.values()]).toMatchObject([{ file: { name: 'big.bin' } }]));
    await vi.waitFor(() => expect(listFiles()).toEqual([]), 5000);
  });

  it('keeps files for an unavailable destination across a restart', async () => {
    receiver.answer = 503;
    const png = Uint8Array.from(Buffer.from('89504e470d0a1a0a00', 'hex'));
    await fetch(`${host.url('notify')}/notify/files`, { method: 'POST', body: form([['a.png', png]]) });
    expect(listFiles()).toHaveLength(1);
    const { dataDir } = host;
    await host.host[Symbol.asyncDispose]();
    receiver.answer = 200;
    receiver.received.length = 0;
    const clock = createFakeClock(Date.now() + 60_000);
    const probe = createProbe(['inbox', 'push']);
    open.use(await openTestHost({ services: [probe.descriptor, keepingNothing], dataDir, clock }));
    await vi.waitFor(() => expect(sent()[0]?.attachments).toMatchObject([{ filename: 'a.png' }]), 5000);
    await vi.waitFor(() => expect(listFiles()).toEqual([]), 5000);
  });

  it('are accepted without a body, in JSON, under the names of Apprise API', async () => {
    const base64 = Buffer.from('abc').toString('base64');
    for (const field of ['attach', 'attachment', 'attachments']) {
      expect((await post('/notify/files', { [field]: [{ base64 }] })).status).toBe(200);
    }
    expect(sent()).toMatchObject(
      Array.from({ length: 3 }, () => ({ message: '', attachments: [{ filename: 'attachment.001', base64 }] })),
    );
  });

  it.each([
    ['a path', '/etc/passwd'],
    ['a path as an address', 'file:///etc/passwd'],
    ['a path in a map', { url: '/etc/passwd', filename: 'x' }],
    ['a number', 7],
    ['an address of this machine', 'http://127.0.0.1:8000/secret'],
    ['an address of the home network', 'http://192.168.1.1/'],
    ['one of this machine by another name', 'http://[::1]/'],
    ['too many', Array.from({ length: 7 }, () => ({ base64: 'YQ==' }))],
    ['too long a name', { base64: 'YQ==', filename: 'x'.repeat(251) }],
    ['a good one and a bad one', [{ base64: 'YQ==' }, '/etc/passwd']],
    ['a good one and one that is not there', [{ base64: 'YQ==' }, 'http://127.0.0.1:1/']],
  ])('are refused as a whole: %s', async (_case, attach) => {
    const reply = await post('/notify/files', { body: 'x', attach });
    expect([reply.status, await reply.json()]).toEqual([400, { error: 'Bad Attachment' }]);
    expect(receiver.received).toEqual([]);
    mkdirSync(folder(), { recursive: true });
    await vi.waitFor(() => expect(listFiles()).toEqual([]), 5000);
  });

  it('deletes files when the call is refused or selects no destination', async () => {
    const one = form([['a.txt', new Uint8Array(3)]]);
    one.append('format', 'nothing');
    expect((await fetch(`${host.url('notify')}/notify/files`, { method: 'POST', body: one })).status).toBe(400);
    const other = form([['a.txt', new Uint8Array(3)]]);
    expect((await fetch(`${host.url('notify')}/notify/nokey`, { method: 'POST', body: other })).status).toBe(204);
    const untagged = form([['a.txt', new Uint8Array(3)]]);
    untagged.append('tag', 'nobody');
    expect((await fetch(`${host.url('notify')}/notify/files`, { method: 'POST', body: untagged })).status).toBe(424);
    // The files are deleted after the response.
    await vi.waitFor(() => expect(listFiles()).toEqual([]), 5000);
  });

  it('deletes files when the client disconnects during the upload', async () => {
    const socket = connect(host.port('notify'), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      'POST /notify/files HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 99999\r\n\r\n' +
        `--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\n${'x'.repeat(50_000)}`,
    );
    mkdirSync(folder(), { recursive: true });
    await vi.waitFor(() => expect(listFiles()).toHaveLength(1), 5000);
    socket.destroy();
    await vi.waitFor(() => expect(listFiles()).toEqual([]), 5000);
    expect(receiver.received).toEqual([]);
  });

  it('delivers files of a handover', async () => {
    const bytes = Uint8Array.from(Buffer.from('hello'));
    await offers.context?.handovers.pass(notificationOffered, 'mail:1', {
      configuration: 'files',
      files: [{ name: 'note.txt', type: '', bytes }],
      notice: { title: 'T', body: 'B', type: 'info', format: 'text', tags: [], source: 'mail' },
    });
    await vi.waitFor(() =>
      expect(sent()[0]?.attachments).toMatchObject([{ filename: 'note.txt', mimetype: 'text/plain' }]),
    );
    await vi.waitFor(() => expect(listFiles()).toEqual([]), 5000);
  });

  it('removes old orphaned files, but not recent ones', async () => {
    const { dataDir } = host;
    mkdirSync(folder(), { recursive: true });
    const old = new Date(Date.now() - 2 * 3_600_000);
    for (const name of ['old', 'young']) writeFileSync(join(folder(), name), 'x');
    utimesSync(join(folder(), 'old'), old, old);
    await host.host[Symbol.asyncDispose]();
    const clock = createFakeClock(Date.now() - 3_600_000);
    open.use(await openTestHost({ services: [createProbe([]).descriptor, keepingNothing], dataDir, clock }));
    clock.advance(3_600_000);
    await vi.waitFor(() => expect(listFiles()).toEqual(['young']), { timeout: 15_000 });
  });
});

describe('a file', () => {
  it('has a name without a path, and a type by its name or content', async () => {
    expect(['a/b\\c.txt', '..', '', ' \r\n', 'ü.pdf'].map((name) => toFileName(name, 1))).toEqual([
      'c.txt',
      'attachment.002',
      'attachment.002',
      'attachment.002',
      'ü.pdf',
    ]);
    const pdf = Buffer.from('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n', 'latin1');
    const zip = Buffer.from('PK\u0003\u0004\u0014\0', 'latin1');
    const types = [
      ['Image/PNG; x=y', 'a.txt', '', 'image/png'],
      ['application/octet-stream', 'a.txt', pdf, 'application/pdf'],
      ['evil\r\nheader: x/y', 'a.CSV', '', 'text/csv'],
      ['', 'a.constructor', '', 'application/octet-stream'],
      ['', 'a', zip, 'application/zip'],
      ['', 'a.yml', 'a: 1', 'application/yaml'],
      ['', 'a.svg', '<?xml version="1.0"?><svg/>', 'image/svg+xml'],
      // Text that begins with the signature of a format.
      ['', 'notes.txt', 'BM 12: paid', 'text/plain'],
      ['', 'notes.md', 'GIF is a format', 'text/markdown'],
    ] as const;
    for (const [declared, name, head, type] of types) {
      expect([name, await detectMediaType(declared, name, Buffer.from(head))]).toEqual([name, type]);
    }
  });
});
