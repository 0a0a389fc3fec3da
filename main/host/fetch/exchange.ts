import type { Dispatcher } from 'undici';
import type { Deadline } from './deadline.ts';
import { acceptedEncodings } from './decode.ts';
import type { Hop } from './redirect.ts';
import { buildTooLargeProblem } from './too-large.ts';

/** Received response. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** Treatment of the body: collected up to a limit, or discarded up to a limit. */
export interface ExchangeRequest {
  readonly keep: boolean;
  readonly maxBytes: number;
}

/**
 * Sends one request and collects the whole response. Uses undici's `dispatch`, since a stream for each body would
 * cost a third of a small request. `want` is called once the headers have arrived; an exception ends the exchange.
 * @throws Problem `fetch.too_large` (502), the error of `want`, the deadline's reason, undici's errors.
 */
export function exchange(
  dispatcher: Dispatcher,
  hop: Hop,
  deadline: Deadline,
  want: (status: number, headers: Answer['headers']) => ExchangeRequest,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const handler = new BodyCollector(resolve, reject, want);
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

class BodyCollector implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #want: Parameters<typeof exchange>[3];
  readonly #parts: Uint8Array[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #cancelled: { readonly reason: unknown } | undefined;
  #status = 0;
  #headers: Answer['headers'] = {};
  #request: ExchangeRequest = { keep: false, maxBytes: Infinity };
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

  /** Also before the connection is established; the request then ends as soon as it is. */
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
    // Such as 103 Early Hints, which precede the response.
    if (status < 200) return;
    this.#status = status;
    this.#headers = flatten(headers);
    this.#request = this.#want(status, this.#headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, part: Uint8Array): void {
    const { keep: isCollected, maxBytes: limit } = this.#request;
    this.#size += part.length;
    if (this.#size > limit) {
      // A body that is not needed is not awaited; the connection is closed.
      if (!isCollected) this.onResponseEnd();
      controller.abort(buildTooLargeProblem(limit));
    } else if (isCollected) this.#parts.push(part);
  }

  onResponseEnd(): void {
    const bytes = new Uint8Array(this.#request.keep ? this.#size : 0);
    let index = 0;
    for (const part of this.#parts) {
      bytes.set(part, index);
      index += part.length;
    }
    this.#resolve({ status: this.#status, headers: this.#headers, bytes });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }
}

/** Joins repeated headers as HTTP allows, and cookies by line. */
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
