import * as m from '#messages/downloads-problems';
import { createServer, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendReply } from '../../../services/kit/http/respond.ts';
import { toReasonPhrase } from '../../../services/downloads/metube-api/reason-phrase.ts';
import { openRig, type Rig } from './rig.ts';

/** Sends a request and returns the reason phrase of its response, decoded as UTF-8. */
async function readReason(url: string, body?: object): Promise<string> {
  const sent = request(url, { method: body === undefined ? 'GET' : 'POST' });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return Buffer.from(response.statusMessage ?? '', 'latin1').toString('utf8');
}

describe('reason phrase of a refused request', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  it('repeats a message with characters that are not in ASCII', async () => {
    const body = { url: 'http://site.example/x', quality: 'best', format: 'any', chapter_template: '../%(title)s' };
    const message = m.templateLeavesFolder();
    expect(message).toMatch(/[^\x20-\x7e]/);
    expect(await readReason(`${rig.client.base}/add`, body)).toBe(`chapter_template: ${message}`);
  });
});

it.each([
  ['of another script', 'Ordner „Größe“ 日本語 🎬', 'Ordner „Größe“ 日本語 🎬'],
  ['with line breaks and control characters', 'one\r\ntwo\u0007\u0085three', 'one two three'],
  ['with half of a character', 'a\ud800b', 'a\ufffdb'],
  ['without text', ' \n', 'Bad Request'],
  ['that is too long', 'ü'.repeat(2000), `${'ü'.repeat(999)}…`],
])('is sent for a message %s', async (_case, message, expected) => {
  const server = createServer((_request, response) => {
    sendReply(response, { status: 400, body: 'text', reason: toReasonPhrase(message, 400) });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    expect(await readReason(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`)).toBe(expected);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
