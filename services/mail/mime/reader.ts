import { Worker } from 'node:worker_threads';
import type { Clock } from '../../contracts/service.ts';
import type { ParsedMail } from '../domain/mail.ts';
import { abridge } from './abridge.ts';
import { parseMail } from './parse.ts';

/** Mails up to this size are read at once; the time that takes is a few milliseconds even for a hostile one. */
const smallBytes = 256 * 1024;
/** A larger one is given up after this time and shown as raw text. */
const patienceMs = 20_000;
const shownBytes = 64 * 1024;
/** The packed app has no types in it, and other file names. */
const workerFile = new URL(`./parse-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

/**
 * Reads a mail without ever holding up the process: large ones in a thread of their own, with a limit on its time and
 * memory.
 */
export async function readMail(source: Uint8Array, clock: Clock): Promise<ParsedMail> {
  const raw = abridge(source);
  if (raw.byteLength <= smallBytes) return parseMail(raw);
  // Cut where the first part may end in the middle: readers of mail take that for an unterminated one.
  const beginning = Uint8Array.from(raw.subarray(0, shownBytes));
  return (await parseInThread(raw, clock)) ?? parseMail(beginning);
}

/** Undefined when the thread failed or took too long. The bytes move over to the thread: here they are gone afterwards. */
async function parseInThread(raw: Uint8Array, clock: Clock): Promise<ParsedMail | undefined> {
  const { promise, resolve } = Promise.withResolvers<ParsedMail | undefined>();
  const worker = new Worker(workerFile, {
    workerData: raw,
    // A part of a shared buffer can only be copied.
    transferList: raw.byteLength === raw.buffer.byteLength && raw.buffer instanceof ArrayBuffer ? [raw.buffer] : [],
    resourceLimits: { maxOldGenerationSizeMb: 512 },
    execArgv: [],
  });
  worker.once('message', resolve);
  worker.once('error', () => resolve(undefined));
  worker.once('exit', () => resolve(undefined));
  using _limit = clock.after(patienceMs, () => resolve(undefined));
  try {
    return await promise;
  } finally {
    await worker.terminate();
  }
}
