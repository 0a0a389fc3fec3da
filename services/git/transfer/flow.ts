import type { ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { RunningChild } from '../../contracts/children.ts';

/**
 * Gives a child its input. When the child has enough, the rest is read and dropped, so that a client that still sends gets
 * to hear why; when the client is cut off, the child is told by a broken stream and not by an end. Resolves when nothing
 * more will be handed over.
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

/** Hands on what is read as long as somebody takes it, and reads to the end in any case. */
export async function forward(source: Readable, output: Writable): Promise<void> {
  await hand(source, output);
  output.end();
}

/** Git's own output as the body of an answer; what git does not bring to its end is broken off, so that nobody takes it for whole. */
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
