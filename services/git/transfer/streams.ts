import type { ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { RunningChild } from '../../contracts/children.ts';

/**
 * Pipes a client's input to a child process. If the child stops reading, the rest is discarded so that a client that is
 * still sending can read the error. If the client disconnects, the child's input is destroyed and not ended. Resolves
 * when no more input will be written.
 */
export function pipeInput(input: Readable, child: Writable, initialBytes?: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const discardInput = (): void => {
      input.unpipe(child);
      input.resume();
      resolve();
    };
    child.on('error', discardInput).on('close', discardInput);
    input.on('error', () => child.destroy());
    input.on('close', () => {
      if (!input.readableEnded) child.destroy();
    });
    if (initialBytes !== undefined) child.write(initialBytes);
    if (input.destroyed && !input.readableEnded) child.destroy();
    else input.pipe(child);
  });
}

/** Copies the source to the output until the output is closed, and always reads the source to its end. */
export async function forwardOutput(source: Readable, output: Writable): Promise<void> {
  await copyStream(source, output);
  output.end();
}

/**
 * Sends git's output as a response body. If git fails, the connection is destroyed so that the client notices the
 * truncated body.
 */
export async function sendOutput(child: RunningChild, response: ServerResponse): Promise<void> {
  child.stdin.end();
  child.stderr.resume();
  response.once('close', () => void child.stop());
  await copyStream(child.stdout, response);
  const { code } = await child.exited;
  if (code === 0) response.end();
  else response.destroy();
}

async function copyStream(source: Readable, output: Writable): Promise<void> {
  for await (const chunk of source as AsyncIterable<Buffer>) {
    if (output.destroyed || output.write(chunk)) continue;
    await new Promise<void>((resolve) => {
      const resume = (): void => {
        output.off('drain', resume).off('close', resume).off('error', resume);
        resolve();
      };
      output.on('drain', resume).on('close', resume).on('error', resume);
    });
  }
}
