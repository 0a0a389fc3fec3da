/** Work under way by download, so that it can be counted and stopped. */
export class Runs {
  readonly #runs = new Map<
    string,
    { readonly kind: Kind; readonly abort: AbortController; readonly done: Promise<unknown> }
  >();
  #closed = false;

  has(uid: string): boolean {
    return this.#runs.has(uid);
  }

  /** Of what is under way, or of one kind of it. */
  uids(kind?: Kind): readonly string[] {
    return [...this.#runs].filter(([, run]) => kind === undefined || run.kind === kind).map(([uid]) => uid);
  }

  count(kind: Kind): number {
    return [...this.#runs.values()].filter((run) => run.kind === kind).length;
  }

  /** Starts work that ends early when its signal is aborted. At most one for a download. */
  async start<T>(uid: string, kind: Kind, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    if (this.#closed) abort.abort();
    const result = work(abort.signal);
    // Who stops a run waits for its end, whichever it is; the failure is the starter's to handle.
    const run = { kind, abort, done: result.catch(() => undefined) };
    this.#runs.set(uid, run);
    try {
      return await result;
    } finally {
      if (this.#runs.get(uid) === run) this.#runs.delete(uid);
    }
  }

  /** Resolves once the work has ended by itself. */
  async ended(uid: string): Promise<void> {
    await this.#runs.get(uid)?.done;
  }

  /** Resolves once the work has ended. */
  async stop(uid: string): Promise<void> {
    const run = this.#runs.get(uid);
    run?.abort.abort();
    await run?.done;
  }

  /** Stops everything, also what is started from now on. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#runs.keys()].map(async (uid) => await this.stop(uid)));
  }
}

type Kind = 'probe' | 'download';
