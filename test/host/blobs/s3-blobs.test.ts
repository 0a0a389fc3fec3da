import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { CreateMultipartUploadCommand, ListMultipartUploadsCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectS3 } from '../../../main/host/blobs/s3/s3-connection.ts';
import { S3Blobs } from '../../../main/host/blobs/s3/s3-blobs.ts';
import { removeStaleUploads } from '../../../main/host/blobs/s3/stale-uploads.ts';
import type { S3Settings } from '../../../main/host/blobs/s3-settings.ts';
import { startS3, type S3Server } from '../../support/s3-server.ts';
import { defineBlobTests } from './blob-contract.ts';

let server: S3Server;
let folder: string;
let tests = 0;
let prefix: string;
beforeAll(async () => {
  server = await startS3();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'blobs-'));
  tests += 1;
  prefix = `test-${String(tests)}/`;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const connect = (settings: Partial<S3Settings> = {}, installation = 'home') =>
  connectS3({ ...server.settings, prefix, ...settings }, installation);
const open = (settings: Partial<S3Settings> = {}) => new S3Blobs(connect(settings), 'push', folder);
const text = (value: string): Readable => Readable.from([Buffer.from(value)]);

defineBlobTests('S3', {
  open,
  damage: async (key, bytes) => {
    const { client, bucket } = connect();
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: `${prefix}push/${key}`, Body: bytes }));
  },
});

describe('S3Blobs', () => {
  it('makes blobs visible to another host immediately, separately for each service', async () => {
    const [first, second] = [open(), open()];
    await first.write('a/one', text('content'));
    expect((await buffer(await second.read('a/one'))).toString()).toBe('content');
    expect(await new S3Blobs(connect(), 'git', folder).find('a/one')).toBeUndefined();
  });

  it('offers direct downloads only when they are enabled', async () => {
    const blobs = open({ directDownloads: true });
    await blobs.write('a/one', text('content'));
    const options = { type: 'text/plain; charset=utf-8', disposition: 'attachment; filename="a.txt"', lifetime: 60 };
    expect(await open().link('a/one', options)).toBeUndefined();
    const link = (await blobs.link('a/one', options)) ?? '';
    const reply = await fetch(link, { headers: { range: 'bytes=0-2' } });
    expect(await reply.text()).toBe('con');
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="a.txt"');
    expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect((await fetch(link.replace('a/one', 'a/two'))).status).toBe(403);
    expect(link).not.toContain(server.settings.secretKey);
  });

  it.each([
    ['a wrong secret key', { secretKey: 'wrong' }, 'S3 denied access'],
    ['an unknown access key', { accessKey: 'unknown' }, 'File store unavailable'],
    ['a missing bucket', { bucket: 'none' }, 'bucket doesn’t exist'],
    ['a closed port', { endpoint: 'http://127.0.0.1:9' }, 'nothing is listening'],
  ])('reports %s without secrets', async (_name, settings, reason) => {
    const blobs = open(settings);
    const failure = blobs.write('a/one', text('content'));
    await expect(failure).rejects.toMatchObject({ code: 'blobs.unavailable', status: 503 });
    await expect(failure).rejects.toThrow(reason);
    await expect(blobs.read('a/one')).rejects.toMatchObject({ code: 'blobs.unavailable' });
    const shown = JSON.stringify(await failure.catch((error: Error) => [error.message, String(error.cause)]));
    expect(shown).not.toContain(server.settings.secretKey);
  });

  it('fails in time while the server does not respond, and works again afterwards', async () => {
    const blobs = open({ timeoutSeconds: 1 });
    server.pause();
    try {
      const startedAt = Date.now();
      await expect(blobs.write('a/one', text('content'))).rejects.toMatchObject({ code: 'blobs.unavailable' });
      await expect(blobs.find('a/one')).rejects.toThrow('didn’t respond in time');
      expect(Date.now() - startedAt).toBeLessThan(15_000);
    } finally {
      server.resume();
    }
    await blobs.write('a/two', text('content'));
    expect((await buffer(await blobs.read('a/two'))).toString()).toBe('content');
  });

  it('refuses the bucket of another installation, whose blobs would be deleted as orphans', async () => {
    const blobs = open();
    await blobs.write('a/one', text('content'));
    const foreign = new S3Blobs(connect({}, 'another'), 'push', folder);
    const uses = [
      () => foreign.write('a/two', text('content')),
      () => foreign.copy('a/one', 'a/two'),
      () => foreign.remove(['a/one']),
      () => foreign.removeFolder('a'),
    ];
    for (const use of uses) await expect(use()).rejects.toMatchObject({ code: 'blobs.foreign', status: 503 });
    expect(await blobs.find('a/one')).toBeDefined();
    expect(await blobs.find('a/two')).toBeUndefined();
    await new S3Blobs(connect({ prefix: `${prefix}other/` }, 'another'), 'push', folder).write('a/two', text('x'));
  });

  it('removes parts of uploads that no host continues', async () => {
    const connection = connect();
    const { client, bucket } = connection;
    await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: `${prefix}push/a/killed` }));
    const list = async (): Promise<number> =>
      ((await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix }))).Uploads ?? []).length;
    expect(await removeStaleUploads(connection, ['push'], Date.now())).toBe(0);
    expect(await list()).toBe(1);
    expect(await removeStaleUploads(connection, ['git', 'push'], Date.now() + 25 * 3_600_000)).toBe(1);
    expect(await list()).toBe(0);
  });

  it('keeps the uploads of other programs and installations', async () => {
    const connection = connect();
    const { client, bucket } = connection;
    const later = Date.now() + 25 * 3_600_000;
    await connection.owner.confirm();
    for (const key of ['backups/archive', 'other/push/a/upload', 'push-archive/a'])
      await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: `${prefix}${key}` }));
    expect(await removeStaleUploads(connection, ['push'], later)).toBe(0);
    await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: `${prefix}push/a/upload` }));
    await expect(removeStaleUploads(connect({}, 'another'), ['push'], later)).rejects.toMatchObject({
      code: 'blobs.foreign',
    });
    const { Uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix }));
    expect(Uploads).toHaveLength(4);
  });

  it('leaves no temporary files', async () => {
    const blobs = open();
    await blobs.write('a/one', text('content'));
    await using _file = await blobs.openFile('a/one');
    expect(readdirSync(join(folder, '.incoming'))).toHaveLength(1);
    await _file?.[Symbol.asyncDispose]();
    expect(readdirSync(join(folder, '.incoming'))).toEqual([]);
  });

  it('closes the connections of downloads that end before they are read', async () => {
    const blobs = open({ timeoutSeconds: 60 });
    await blobs.write('a/one', Readable.from([Buffer.alloc(300_000)]));
    for (let index = 0; index < 100; index += 1) {
      const content = await blobs.read('a/one', { sha256: 'unread' });
      content.destroy();
      await once(content, 'close');
    }
    expect(await blobs.find('a/one')).toMatchObject({ size: 300_000 });
  });

  it('continues a download whose connection breaks', async () => {
    const blobs = open();
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    await blobs.write('a/one', Readable.from([bytes]));
    let requests = 0;
    const proxy = createServer((request, response) => {
      requests += 1;
      forwardBeginning(request, response, 120_000);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    try {
      const { port } = proxy.address() as AddressInfo;
      const through = open({ endpoint: `http://127.0.0.1:${String(port)}` });
      expect((await buffer(await through.read('a/one'))).equals(bytes)).toBe(true);
      expect(requests).toBeGreaterThan(2);
    } finally {
      proxy.close();
    }
  });

  it('waits for an upload that takes longer than the timeout while its connection makes progress', async () => {
    await open().write('a/one', text('content'));
    const proxy = createServer((request, response) => {
      if (request.method !== 'PUT') return forwardBeginning(request, response, Infinity);
      // Like the acknowledgements of a slow connection, these responses show that the transfer continues.
      let remaining = 8;
      const progress = setInterval(() => {
        remaining -= 1;
        if (remaining > 0) return response.writeProcessing();
        clearInterval(progress);
        forwardBeginning(request, response, Infinity);
      }, 200);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    try {
      const { port } = proxy.address() as AddressInfo;
      const slow = open({ endpoint: `http://127.0.0.1:${String(port)}`, timeoutSeconds: 1 });
      await slow.write('a/two', text('slow content'));
      expect((await buffer(await slow.read('a/two'))).toString()).toBe('slow content');
    } finally {
      proxy.close();
    }
  });
});

/** Forwards a request with its signed headers, and breaks the connection after some bytes of a longer response. */
function forwardBeginning(request: IncomingMessage, response: ServerResponse, maxBytes: number): void {
  const { hostname, port } = new URL(server.settings.endpoint);
  const { method, headers, url: path } = request;
  const forwarded = httpRequest({ hostname, port, path, method, headers }, (reply) => {
    let remaining = maxBytes;
    response.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.on('data', (chunk: Buffer) => {
      const isCut = chunk.length > remaining;
      response.write(chunk.subarray(0, Math.max(0, remaining)), () => isCut && response.destroy());
      remaining -= chunk.length;
    });
    reply.on('end', () => remaining >= 0 && response.end());
  });
  request.pipe(forwarded);
}
