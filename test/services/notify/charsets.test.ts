import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { notify } from '../../../services/notify/index.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, openReceiver, type Receiver } from './support.ts';

let host: TestHost;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await openReceiver();
  host = await openTestHost({ services: [createProbe(['inbox', 'push']).descriptor, notify] });
  const urls = `json://127.0.0.1:${String(receiver.port)}/text`;
  await fetch(`${host.url('notify')}/add/words`, { method: 'POST', body: new URLSearchParams({ urls }) });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

interface ReceivedMessage {
  readonly title: string;
  readonly message: string;
  readonly attachments: readonly { readonly filename: string }[];
}

async function post(type: string, body: string | Uint8Array): Promise<number> {
  const path = `${host.url('notify')}/notify/words`;
  const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : Buffer.from(body);
  return (await fetch(path, { method: 'POST', headers: { 'content-type': type }, body: bytes })).status;
}

async function notifyWith(type: string, body: string | Uint8Array): Promise<ReceivedMessage> {
  const before = receiver.received.length;
  expect(await post(type, body)).toBe(200);
  await vi.waitFor(() => expect(receiver.received.length).toBe(before + 1));
  return JSON.parse(receiver.received.at(-1)?.body ?? '') as ReceivedMessage;
}

const form = 'application/x-www-form-urlencoded';

describe('a form', () => {
  it.each([
    ['in latin-1 that says so, escaped', `${form}; charset=ISO-8859-1`, 'title=T%FCr&body=offen+%28%E4%29'],
    ['in latin-1 that says so, in bytes', `${form}; charset="iso-8859-1"`, 'title=T\xfcr&body=offen (\xe4)'],
    ['in latin-1 that does not say so, escaped', form, 'title=T%FCr&body=offen+%28%E4%29'],
    ['in latin-1 that does not say so, in bytes', form, 'title=T\xfcr&body=offen (\xe4)'],
    ['in latin-1 that says that it is UTF-8', `${form}; charset=UTF-8`, 'title=T%FCr&body=offen (\xe4)'],
    ['in UTF-8', form, Buffer.from('title=T%C3%BCr&body=offen (ä)')],
    ['in UTF-8 with a charset nobody knows', `${form}; charset=none`, 'title=T%C3%BCr&body=offen+%28%C3%A4%29'],
  ])('decodes a body %s', async (_case, type, body) => {
    expect(await notifyWith(type, body)).toMatchObject({ title: 'Tür', message: 'offen (ä)' });
  });

  it('decodes a body with a declared charset', async () => {
    expect(await notifyWith(`${form}; charset=windows-1251`, 'body=%CF%F0%E8%E2%E5%F2')).toMatchObject({
      message: 'Привет',
    });
  });

  it('keeps the characters of windows-1252, and an existing replacement character', async () => {
    expect(await notifyWith(form, 'body=%80+%96+x')).toMatchObject({ message: '€ – x' });
    expect(await notifyWith(form, 'body=%EF%BF%BD')).toMatchObject({ message: '\ufffd' });
  });

  const parts = (text: string, more = ''): string =>
    ['title', 'body']
      .map((name) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n${more}\r\n${text}\r\n`)
      .join('') +
    `--b\r\nContent-Disposition: form-data; name="f"; filename="${text}.txt"\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n`;

  it.each([
    ['in latin-1', parts('T\xfcr')],
    ['in latin-1 that says so', parts('T\xfcr', 'Content-Type: text/plain; charset=iso-8859-1\r\n')],
    ['in UTF-8', Buffer.from(parts('Tür'))],
    ['in UTF-8 that says so', Buffer.from(parts('Tür', 'Content-Type: text/plain; charset=utf-8\r\n'))],
  ])('decodes a multipart form and its file names, %s', async (_case, body) => {
    const { title, message, attachments } = await notifyWith('multipart/form-data; boundary=b', body);
    expect([title, message, attachments.map(({ filename }) => filename)]).toEqual(['Tür', 'Tür', ['Tür.txt']]);
  });

  it('decodes an encoded file name in a multipart form, as sent by Python', async () => {
    const body =
      '--b\r\nContent-Disposition: form-data; name="body"\r\n\r\nx\r\n' +
      `--b\r\nContent-Disposition: form-data; name="f"; filename*=utf-8''T%C3%BCr.txt\r\n\r\nx\r\n--b--\r\n`;
    const { attachments } = await notifyWith('multipart/form-data; boundary=b', body);
    expect(attachments.map(({ filename }) => filename)).toEqual(['Tür.txt']);
  });
});

describe('other bodies', () => {
  it.each([
    ['text that says so', 'text/plain; charset=latin1', 'T\xfcr'],
    ['text that does not', 'text/plain', 'T\xfcr'],
    ['JSON that says so', 'application/json; charset=ISO-8859-1', '{"body":"T\xfcr"}'],
  ])('decodes Latin-1 fields, %s', async (_case, type, body) => {
    expect(await notifyWith(type, body)).toMatchObject({ message: 'Tür' });
  });

  it('reads JSON in Latin-1 without a declared charset', async () => {
    expect(await notifyWith('application/json', '{"body":"T\xfcr"}')).toMatchObject({ message: 'Tür' });
  });
});
