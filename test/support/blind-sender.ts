import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Response to a client that writes the whole request before it reads. */
export interface RawResponse {
  /** Status, or 0 without a response because the connection was reset. */
  readonly status: number;
  readonly text: string;
  /** Number of sent bytes of the body. */
  readonly sent: number;
}

const piece = Buffer.alloc(64 * 1024, 'x');

/** Sends a request with a body of `size` bytes completely before it reads the response, as most programs do. */
export async function sendBlindly(
  port: number,
  line: string,
  options: { readonly headers?: readonly string[]; readonly size: number; readonly chunked?: boolean },
): Promise<RawResponse> {
  const { headers = [], size, chunked = false } = options;
  const socket = connect({ port, host: '127.0.0.1' });
  let failed = false;
  let goOn = (): void => undefined;
  socket.on('error', () => (failed = true));
  for (const event of ['drain', 'close']) socket.on(event, () => goOn());
  await once(socket, 'connect');
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${size}`;
  const write = async (bytes: Buffer | string): Promise<void> => {
    if (!socket.write(bytes)) await new Promise<void>((resolve) => (goOn = resolve));
  };
  await write(`${[`${line} HTTP/1.1`, `Host: 127.0.0.1:${port}`, length, ...headers].join('\r\n')}\r\n\r\n`);
  let sent = 0;
  for (; sent < size && !failed && !socket.destroyed; sent += piece.length) {
    const bytes = piece.subarray(0, Math.min(piece.length, size - sent));
    if (chunked) socket.write(`${bytes.length.toString(16)}\r\n`);
    await write(bytes);
    if (chunked) socket.write('\r\n');
  }
  if (chunked && !failed) socket.write('0\r\n\r\n');
  // A reset discards data that was received but not read.
  await sleep(20);
  let text = '';
  socket.setEncoding('latin1').on('data', (part: string) => (text += part));
  for (let waited = 0; waited < 20_000 && !socket.closed && !text.includes('\r\n\r\n'); waited += 10) await sleep(10);
  socket.destroy();
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text, sent };
}
