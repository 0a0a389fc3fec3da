import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import ssh2 from 'ssh2';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SshServer, type SshDependencies } from '../../../services/git/ssh/server.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { silentLog } from '../../support/database-location.ts';

const hostKey = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 }).private;

let clock: FakeClock;
let server: SshServer;
let listener: Server;
let accepted: Socket | undefined;
let client: Socket;
let received: string;
beforeEach(async () => {
  clock = createFakeClock();
  const context = { clock, log: silentLog, accounts: { record: () => undefined } };
  server = new SshServer({ context } as unknown as SshDependencies, [hostKey]);
  listener = createServer((socket) => {
    accepted = socket;
    server.accept(socket);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  received = '';
  client = connect((listener.address() as AddressInfo).port, '127.0.0.1');
  client.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  await expect.poll(() => received).toContain('SSH-2.0-Homeport');
});
afterEach(() => {
  server[Symbol.dispose]();
  client.destroy();
  listener.close();
});

it('closes a connection whose client does not identify itself within 30 seconds', async () => {
  const closed = once(client, 'close');
  clock.advance(30_000);
  await closed;
});

it('gives a client that has identified itself 30 seconds for the sign-in', async () => {
  clock.advance(20_000);
  client.write('SSH-2.0-Test\r\n');
  await expect.poll(() => received).toContain('curve25519');
  const closed = once(client, 'close');
  clock.advance(20_000);
  expect(accepted?.destroyed).toBe(false);
  clock.advance(10_000);
  await closed;
});
