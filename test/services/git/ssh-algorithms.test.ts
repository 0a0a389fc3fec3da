import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { makeKey } from './ssh-key.ts';

let fixture: GitFixture;
let port: string;
let key: { readonly text: string; readonly command: string };
beforeAll(async () => {
  fixture = await openGitFixture();
  const { ssh_url } = await fixture.create('demo');
  port = new URL(String(ssh_url)).port;
  key = await makeKey(fixture, 'id_rsa', 'rsa');
  expect((await fixture.api('POST', '/user/keys', { title: 'k', key: key.text })).status).toBe(201);
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Reads the algorithms that the server offers in the key exchange packet. */
async function offered(): Promise<string> {
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write('SSH-2.0-Test\r\n');
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    bytes = Buffer.concat([bytes, chunk]);
    const text = bytes.toString('latin1');
    if (text.includes('hmac-sha2') && /none/.test(text)) break;
  }
  return bytes.toString('latin1');
}

it('offers no SHA-1 for message authentication and host keys', async () => {
  const text = await offered();
  expect(text).toContain('hmac-sha2-256-etm@openssh.com');
  expect(text).toContain('rsa-sha2-256');
  expect(text).not.toMatch(/hmac-sha1|hmac-md5|(^|,)ssh-rsa(,|\0)|-sha1/);
});

it.each([
  ['-o', 'MACs=hmac-sha1', '-o', 'Ciphers=aes128-ctr'],
  ['-o', 'HostKeyAlgorithms=ssh-rsa'],
  ['-o', 'PubkeyAcceptedAlgorithms=ssh-rsa', '-o', 'PubkeyAcceptedKeyTypes=ssh-rsa'],
])('rejects a client that requires it: %s %s', async (...options) => {
  const [program = '', ...args] = key.command.split(' ');
  const result = await fixture.run(program, [...options, ...args, '-p', port, 'git@127.0.0.1'], { mayFail: true });
  expect(result.code).not.toBe(0);
});

it('accepts an RSA key that signs with SHA-2', async () => {
  const [program = '', ...args] = key.command.split(' ');
  const options = ['-o', 'PubkeyAcceptedAlgorithms=rsa-sha2-256', '-o', 'HostKeyAlgorithms=rsa-sha2-512'];
  const result = await fixture.run(program, [...options, ...args, '-p', port, 'git@127.0.0.1'], { mayFail: true });
  expect([result.code, result.stderr]).toEqual([0, expect.stringContaining('Hi there, ada!')]);
});
