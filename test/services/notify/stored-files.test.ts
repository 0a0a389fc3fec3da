import * as texts from '#messages/notify-texts';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { openReceiver, type Receiver } from './support.ts';

let open: AsyncDisposableStack;
let receiver: Receiver;
let clock: FakeClock;
let host: TestHost;

beforeEach(async () => {
  open = new AsyncDisposableStack();
  receiver = open.use(await openReceiver());
  clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
  const small: typeof notify = {
    ...notify,
    create: (context, settings) => notify.create(context, { ...settings, keptFilesBytes: 250 }),
  };
  host = open.use(await openTestHost({ services: [small, control], clock }));
});
afterEach(() => open.disposeAsync());

const folder = (): string => join(host.dataDir, 'notify', 'attachments');
const file = (name: string, bytes = 100) => ({ filename: name, base64: Buffer.alloc(bytes, 65).toString('base64') });

async function post(path: string, fields: unknown): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(host.url('notify') + path, { method: 'POST', headers, body: JSON.stringify(fields) });
  return reply.status;
}

const add = (end: string) => post('/add/k', { config: `json://127.0.0.1:${receiver.port}/${end}`, format: 'text' });

interface ReceivedBody {
  readonly message: string;
  readonly attachments: readonly { readonly filename: string }[];
}
const getReceived = (): readonly ReceivedBody[] =>
  receiver.received.map(({ body }) => JSON.parse(body) as ReceivedBody);
const names = (index: number) =>
  getReceived()
    .at(index)
    ?.attachments.map(({ filename }) => filename);

async function resend(body: string): Promise<{ destinations: number; filesGone: number }> {
  const { notices } = await api<{ notices: { id: string; body: string }[] }>(
    host.url('control'),
    '/api/notify/notices',
  );
  const id = notices.findLast((entry) => entry.body === body)?.id ?? '';
  return api(host.url('control'), `/api/notify/notices/${id}/send`, { method: 'POST' });
}

describe('a resent notification', () => {
  it('includes its files within the storage limit, which deletes the oldest', async () => {
    await add('a');
    for (const body of ['1', '2', '3']) {
      await post('/notify/k', { body, attach: file(`${body}.txt`) });
      clock.advance(1000);
    }
    await vi.waitFor(() => expect(readdirSync(folder()).filter((name) => !name.startsWith('.'))).toHaveLength(2));
    expect(await resend('3')).toEqual({ destinations: 1, filesGone: 0 });
    await vi.waitFor(() => expect(names(-1)).toEqual(['3.txt']));
    expect(await resend('1')).toEqual({ destinations: 1, filesGone: 1 });
    await vi.waitFor(() => expect(getReceived().at(-1)).toMatchObject({ message: '1', attachments: [] }));
  });

  it('is sent without files that are missing on the disk, and reports them', async () => {
    await add('a');
    await post('/notify/k', { body: 'x', attach: [file('a.txt'), file('b.txt')] });
    await rm(folder(), { recursive: true });
    expect(await resend('x')).toEqual({ destinations: 1, filesGone: 2 });
    await vi.waitFor(() => expect(getReceived()).toHaveLength(2));
  });
});

describe('a digest', () => {
  it('includes up to six files of its notifications, and names the others', async () => {
    await add('a?digest=15m');
    for (const body of ['1', '2', '3', '4']) {
      await post('/notify/k', { body, attach: [file(`${body}a.txt`, 10), file(`${body}b.txt`, 10)] });
      clock.advance(1000);
    }
    clock.advance(900_000);
    await vi.waitFor(() => expect(getReceived()).toHaveLength(1));
    expect(names(0)).toEqual(['1a.txt', '1b.txt', '2a.txt', '2b.txt', '3a.txt', '3b.txt']);
    expect(getReceived()[0]?.message.split('\n').at(-1)).toBe(texts.digestFilesOmitted({ names: '4a.txt, 4b.txt' }));
  });
});
