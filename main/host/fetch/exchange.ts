import type { Dispatcher } from 'undici';
import type { Deadline } from './deadline.ts';
import { acceptedEncodings } from './decode.ts';
import type { Hop } from './redirect.ts';
import { tooLarge } from './too-large.ts';

/** An answer as it came. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** What is wanted of a body: all of it, at most so many bytes; or nothing, and no more than so many are let through. */
export interface Wanted {
  readonly keep: boolean;
  readonly mostBytes: number;
}

/**
 * Sends one request and gathers the whole answer. It stands on undici's `dispatch`: a stream for each body, read to its
 * end at once, cost a third of a small request. `want` is asked once the headers are there; what it throws ends the exchange.
 *
 * @throws Problem `fetch.too_large` (502), what `want` throws, the deadline's reason, undici's errors.
 */
export function exchange(
  dispatcher: Dispatcher,
  hop: Hop,
  deadline: Deadline,
  want: (status: number, headers: Answer['headers']) => Wanted,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const handler = new Gathering(resolve, reject, want);
    deadline.cancel = (reason) => handler.cancel(reason);
    dispatcher.dispatch(
      {
        origin: hop.url.origin,
        path: hop.url.pathname + hop.url.search,
        method: hop.method,
        headers: { 'accept-encoding': acceptedEncodings, ...hop.headers },
        body: hop.body ?? null,
      },
      handler,
    );
  });
}

class Gathering implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #want: Parameters<typeof exchange>[3];
  readonly #parts: Uint8Array[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #cancelled: { readonly reason: unknown } | undefined;
  #status = 0;
  #headers: Answer['headers'] = {};
  #wanted: Wanted = { keep: false, mostBytes: Infinity };
  #size = 0;

  constructor(
    resolve: (answer: Answer) => void,
    reject: (error: unknown) => void,
    want: Parameters<typeof exchange>[3],
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#want = want;
  }

  /** Also before a connection is there; the request then ends as soon as it has one. */
  cancel(reason: unknown): void {
    this.#cancelled = { reason };
    this.#reject(reason);
    this.#controller?.abort(asError(reason));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#cancelled !== undefined) controller.abort(asError(this.#cancelled.reason));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // Such as 103 Early Hints; the answer comes after it.
    if (status < 200) return;
    this.#status = status;
    this.#headers = flatten(headers);
    this.#wanted = this.#want(status, this.#headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, part: Uint8Array): void {
    const { keep, mostBytes } = this.#wanted;
    this.#size += part.length;
    if (this.#size > mostBytes) {
      // What nobody wants is not waited for either; the connection goes with it.
      if (!keep) this.onResponseEnd();
      controller.abort(tooLarge(mostBytes));
    } else if (keep) this.#parts.push(part);
  }

  onResponseEnd(): void {
    const bytes = new Uint8Array(this.#wanted.keep ? this.#size : 0);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    this.#resolve({ status: this.#status, headers: this.#headers, bytes });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }
}

/** A header that occurs several times is joined as HTTP allows, cookies by line. */
export function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined)
      flat[name] = Array.isArray(value) ? value.join(name === 'set-cookie' ? '\n' : ', ') : value;
  }
  return flat;
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('the request was cancelled', { cause: reason });
}
