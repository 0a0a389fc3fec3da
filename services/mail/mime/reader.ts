import type { Clock } from '../../contracts/service.ts';
import { askThread, threadFile } from '../../kit/limited-thread.ts';
import type { ParsedMail } from '../domain/mail.ts';
import { abridge, countLines } from './abridge.ts';
import { parseMail } from './parse.ts';

/** Mails up to this size and with no more lines are read at once, which takes milliseconds even for a hostile one. */
const smallBytes = 256 * 1024;
const fewLines = 4000;
/** A larger one is given up after this time and shown as raw text. */
const patienceMs = 20_000;
const shownBytes = 64 * 1024;
const workerFile = threadFile('parse-worker', import.meta.url);

/**
 * Reads mails without ever holding up the process: large ones in a thread of their own, with a limit on its time and
 * memory, one after another, so that several take no more memory than one.
 */
export class MailReader {
  readonly #clock: Clock;
  #latest: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The bytes of a large source may be gone afterwards: they move over to the thread. */
  async read(source: Uint8Array): Promise<ParsedMail> {
    if (source.byteLength <= smallBytes && countLines(source) <= fewLines) return parseMail(source);
    // Cut where the first part may end in the middle: readers of mail take that for an unterminated one.
    const beginning = Uint8Array.from(source.subarray(0, shownBytes));
    const { raw, cut } = abridge(source);
    const reading = this.#latest.then(() => this.#readInThread(raw, cut));
    this.#latest = reading;
    return (await reading) ?? parseMail(beginning, true);
  }

  /** Undefined when the thread failed or took too long. Never rejects. */
  async #readInThread(raw: Uint8Array, cut: boolean): Promise<ParsedMail | undefined> {
    try {
      return await askThread<ParsedMail>(workerFile, {
        clock: this.#clock,
        workerData: { raw, cut },
        // A part of a shared buffer can only be copied.
        transferList: raw.byteLength === raw.buffer.byteLength && raw.buffer instanceof ArrayBuffer ? [raw.buffer] : [],
        memoryMb: 512,
        limitMs: patienceMs,
      });
    } catch (error) {
      // Whatever the mail did to it, what came is shown instead.
      if (!(error instanceof Error)) throw error;
      return undefined;
    }
  }
}
