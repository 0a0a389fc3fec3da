import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendBlindly } from '../support/blind-sender.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await openTestHost();
});
afterAll(() => host[Symbol.asyncDispose]());

const json = 'Content-Type: application/json';
const form = 'Content-Type: application/x-www-form-urlencoded';

// Apprise API responds with 431 to a large JSON body, and with 400 to an unreadable form.
describe.each([
  ['the app’s own API', 'control', 'PATCH /api/settings/host', [json], 413],
  ['a file of push', 'push', 'PUT /topic', ['Filename: film.bin'], 413],
  ['a text of push', 'push', 'POST /topic', [], 413],
  ['JSON of push', 'push', 'POST /', [json], 413],
  ['JSON of notify', 'notify', 'POST /notify/key', [json], 431],
  ['a form of notify', 'notify', 'POST /notify/key', [form], 400],
  ['a download', 'downloads', 'POST /add', [json], 413],
] as const)('too large a body for %s', (_case, service, line, headers, status) => {
  it.each([false, true])('answers a client that sends everything before it reads; chunked: %s', async (chunked) => {
    const size = 24 * 1024 * 1024;
    const all = [...headers, `Authorization: ${adminAuthorization}`];
    const reply = await sendBlindly(host.port(service), line, { headers: all, size, chunked });
    expect(reply).toMatchObject({ status, sent: size });
  });
});
