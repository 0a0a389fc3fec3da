import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readNatsSettings } from '../../../main/host/relay/nats-settings.ts';

const read = (natsUrl: string, natsCredentialsFile = '') => readNatsSettings({ natsUrl, natsCredentialsFile });

it('returns nothing without an address', async () => {
  expect(await read('')).toBeUndefined();
});

it('reads addresses with a user, a token or neither', async () => {
  expect(await read('nats://nats.example.org')).toEqual({ servers: ['nats.example.org:4222'], tls: false });
  expect(await read('nats://ada:p%40ss@a.example:4000,nats://b.example')).toEqual({
    servers: ['a.example:4000', 'b.example:4222'],
    tls: false,
    user: 'ada',
    password: 'p@ss',
  });
  expect(await read('tls://a-token@[::1]:4222')).toEqual({ servers: ['[::1]:4222'], tls: true, token: 'a-token' });
});

it('reads a credentials file, and names one that is missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nats-'));
  try {
    const file = join(folder, 'user.creds');
    await expect(read('nats://a.example', file)).rejects.toMatchObject({ code: 'relay.settings', status: 422 });
    writeFileSync(file, 'content');
    const settings = await read('nats://a.example', file);
    expect(Buffer.from(settings?.credentials ?? []).toString()).toBe('content');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it.each(['nats://', 'nats://a.example,', 'nats://a b'])('rejects the address %j', async (address) => {
  await expect(read(address)).rejects.toMatchObject({ code: 'relay.settings', status: 422 });
});
