import type { ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { RunningChild } from '../../contracts/children.ts';

/**
 * Pipes a client's input to a child process. If the child stops reading, the rest is discarded so that a client that is
 * still sending can read the error. If the client disconnects, the child's input is destroyed and not ended. Resolves
 * when no more input will be written.
 */
export function feed(input: Readable, child: Writable, first?: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const full = (): void => {
      input.unpipe(child);
      input.resume();
      resolve();
    };
    child.on('error', full).on('close', full);
    input.on('error', () => child.destroy());
    input.on('close', () => {
      if (!input.readableEnded) child.destroy();
    });
    if (first !== undefined) child.write(first);
    if (input.destroyed && !input.readableEnded) child.destroy();
    else input.pipe(child);
  });
}

/** Copies the source to the output until the output is closed, and always reads the source to its end. */
export async function forward(source: Readable, output: Writable): Promise<void> {
  await hand(source, output);
  output.end();
}

/**
 * Sends git's output as a response body. If git fails, the connection is destroyed so that the client notices the
 * truncated body.
 */
export async function pour(child: RunningChild, response: ServerResponse): Promise<void> {
  child.stdin.end();
  child.stderr.resume();
  response.once('close', () => void child.stop());
  await hand(child.stdout, response);
  const { code } = await child.exited;
  if (code === 0) response.end();
  else response.destroy();
}

async function hand(source: Readable, output: Writable): Promise<void> {
  for await (const chunk of source as AsyncIterable<Buffer>) {
    if (output.destroyed || output.write(chunk)) continue;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        output.off('drain', go).off('close', go).off('error', go);
        resolve();
      };
      output.on('drain', go).on('close', go).on('error', go);
    });
  }
}
