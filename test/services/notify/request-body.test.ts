import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { readBody } from '../../../services/notify/apprise-api/body.ts';

/** Creates a request whose client sent a part of a body of ten bytes, and disconnected before any of it was read. */
async function abandoned(body: string): Promise<{ readonly request: IncomingMessage; readonly end: () => void }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(
    `POST /notify/x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n${body}`,
  );
  const [request] = (await once(server, 'request')) as [IncomingMessage];
  const closed = new Promise((resolve) => request.once('close', resolve));
  client.destroy();
  await closed;
  return { request, end: () => server.close() };
}

describe('a caller that disconnected during authentication', () => {
  it.each([
    ['in the middle of its body', '{"bo'],
    ['after its body', '{"body":1}'],
  ])('does not wait for %s', async (_when, sent) => {
    const { request, end } = await abandoned(sent);
    await expect(readBody(request)).rejects.toMatchObject({ code: 'notify.left', status: 400 });
    end();
  });
});
