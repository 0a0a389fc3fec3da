import * as problems from '#messages/push-problems';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PushUpload } from '../../../services/contracts/push/api.ts';
import { api } from '../../support/api.ts';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { push } from '../../../services/push/index.ts';
import { adminAuthorization as admin, openTestHost, type TestHost } from '../../support/host.ts';

describe('composing a message', () => {
  let host: TestHost;
  let base: string;
  beforeAll(async () => {
    const environment = { NTFY_ATTACHMENT_FILE_SIZE_LIMIT: '100K' };
    host = await openTestHost({ services: [push, inbox, control], environment });
    base = host.url('control');
  });
  afterAll(() => host[Symbol.asyncDispose]());

  const upload = (topic: string, name: string, body: BodyInit, headers = {}): Promise<Response> =>
    fetch(`${base}/api/push/topics/${topic}/files?name=${encodeURIComponent(name)}`, {
      method: 'POST',
      body,
      headers: { Authorization: admin, ...headers },
    });
  const uploaded = async (name: string, body: BodyInit): Promise<PushUpload> => {
    const response = await upload('files', name, body);
    expect(response.status).toBe(200);
    return (await response.json()) as PushUpload;
  };
  const polled = async (topic: string): Promise<any> => {
    const response = await fetch(`${host.url('push')}/${topic}/json?poll=1`, { headers: { Authorization: admin } });
    return JSON.parse((await response.text()).split('\n', 1)[0] ?? '');
  };
  const publish = (body: object, headers = {}): Promise<any> =>
    api(base, '/api/push/messages', { method: 'POST', body: JSON.stringify({ topic: 'files', ...body }), headers });

  it('uploads a file first and publishes it once with the message', async () => {
    expect(await api(base, '/api/push/limits')).toMatchObject({ message: 4096, file: 102_400 });
    const file = await uploaded('../etc/böse.txt', 'Hello');
    expect(file).toMatchObject({ name: 'böse.txt', type: 'text/plain; charset=utf-8', size: 5 });
    const message = await publish({ file: file.id });
    expect(message).toMatchObject({
      message: 'You received a file: böse.txt',
      attachment: { name: 'böse.txt', kept: true, size: 5 },
    });
    const sent = await polled('files');
    expect(sent.id).toBe(file.id);
    expect(await (await fetch(sent.attachment.url)).text()).toBe('Hello');
    await expect(publish({ file: file.id, message: 'again' })).rejects.toThrow('Attach it again');
    const renamed = await publish({ file: (await uploaded('b.bin', 'x')).id, filename: 'other.txt', message: 'Named' });
    expect(renamed).toMatchObject({ message: 'Named', attachment: { name: 'other.txt' } });
  });

  it('refuses files that are too large or of other senders, and handles a client that disconnects', async () => {
    const large = await upload('files', 'large.bin', new Uint8Array(200_000));
    expect([large.status, await large.text()]).toEqual([422, expect.stringContaining('too large')]);
    const hidden = new ReadableStream({
      start(controller) {
        for (let count = 0; count < 4; count += 1) controller.enqueue(new Uint8Array(50_000));
        controller.close();
      },
    });
    const unannounced = await upload('files', 'large.bin', hidden, { duplex: 'half' }).catch(() => undefined);
    expect(unannounced?.status ?? 422).toBe(422);
    expect((await upload('files', 'a', 'x', { Authorization: '' })).status).toBe(401);
    await api(base, '/api/accounts', {
      method: 'POST',
      body: JSON.stringify({ name: 'grace', password: 'harbour light', grants: [] }),
    });
    const grace = { Authorization: `Basic ${Buffer.from('grace:harbour light').toString('base64')}` };
    expect((await upload('files', 'a', 'x', grace)).status).toBe(403);
    await api(base, '/api/accounts/grace', {
      method: 'PATCH',
      body: JSON.stringify({ grants: [{ service: 'push', resource: '*', permission: 'read-write' }] }),
    });
    const file = await uploaded('mine.txt', 'mine');
    await expect(publish({ file: file.id, message: 'stolen' }, grace)).rejects.toThrow('Attach it again');
    expect(await publish({ file: file.id, message: 'mine' })).toMatchObject({ message: 'mine' });
  });

  it('publishes actions and file addresses, and names invalid fields', async () => {
    const view = { kind: 'view', label: 'Look', url: 'https://cam.example/' };
    const http = { kind: 'http', label: 'Open', url: 'https://door.example/', method: 'PUT', body: '{}', clear: true };
    await publish({ topic: 'door', attach: 'https://cam.example/still.jpg', actions: [view, http] });
    expect(await polled('door')).toMatchObject({
      message: 'You received a file: still.jpg',
      attachment: { name: 'still.jpg', url: 'https://cam.example/still.jpg' },
      actions: [
        { action: 'view', label: 'Look', url: 'https://cam.example/', clear: false },
        { action: 'http', label: 'Open', url: 'https://door.example/', method: 'PUT', body: '{}', clear: true },
      ],
    });
    await expect(publish({ message: '  ' })).rejects.toThrow(problems.messageMissing());
    await expect(publish({ message: 'x', actions: [{ ...view, label: ' ' }] })).rejects.toThrow('actions.0.label');
    await expect(publish({ message: 'x', actions: [view, view, view, view] })).rejects.toThrow(
      problems.tooManyButtons(),
    );
    await expect(publish({ message: 'x', attach: 'file:///etc/passwd' })).rejects.toThrow('attach');
    const late = await uploaded('late.txt', 'x');
    await expect(publish({ file: late.id, message: 'x', delay: '2 days' })).rejects.toThrow(
      problems.fileExpiresFirst(),
    );
    expect(await publish({ file: late.id, message: 'x', delay: '30m' })).toMatchObject({ attachment: { kept: true } });
  });
});
