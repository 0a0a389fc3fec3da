import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, it } from 'vitest';
import { Problem } from '../../../services/contracts/problem.ts';
import { buildFileTooLargeProblem } from '../../../services/git/releases/stored-files.ts';
import { readUpload } from '../../../services/git/gitea-api/upload.ts';

it('answers an upload that is aborted during the file', async () => {
  // Uses the same storage as the service, with a small limit.
  const take = async (_name: string, bytes: NodeJS.ReadableStream): Promise<void> => {
    let size = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        size += chunk.length;
        done(size > 100_000 ? buildFileTooLargeProblem() : null, chunk);
      },
    });
    await pipeline(bytes, measure, new Writable({ write: (_chunk, _encoding, done) => done() }));
  };
  const server = createServer((request, response) => {
    void readUpload({ query: new URLSearchParams(), request }, take).then(
      () => response.writeHead(201).end(),
      (error: unknown) => response.writeHead(error instanceof Problem ? error.status : 500).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const send = async (bytes: number): Promise<number> => {
    const body = new FormData();
    body.set('attachment', new File([new Uint8Array(bytes)], 'lamp.png'));
    return (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { method: 'POST', body }))
      .status;
  };
  expect(await send(50_000)).toBe(201);
  expect(await send(8_000_000)).toBe(413);
  server.closeAllConnections();
  server.close();
});
