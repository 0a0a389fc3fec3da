/** Active runs by download, which can be counted and stopped. */
export class ActiveRuns {
  readonly #runs = new Map<
    string,
    { readonly kind: RunKind; readonly abort: AbortController; readonly done: Promise<unknown> }
  >();
  #closed = false;

  has(uid: string): boolean {
    return this.#runs.has(uid);
  }

  /** Returns the uids of all runs, or of one kind. */
  uids(kind?: RunKind): readonly string[] {
    return [...this.#runs].filter(([, run]) => kind === undefined || run.kind === kind).map(([uid]) => uid);
  }

  count(kind: RunKind): number {
    return [...this.#runs.values()].filter((run) => run.kind === kind).length;
  }

  /** Starts a run that ends early when its signal is aborted. A download has at most one run. */
  async start<T>(uid: string, kind: RunKind, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    if (this.#closed) abort.abort();
    const result = work(abort.signal);
    // A call of stop() waits for the end; the caller of start() handles the failure.
    const run = { kind, abort, done: result.catch(() => undefined) };
    this.#runs.set(uid, run);
    try {
      return await result;
    } finally {
      if (this.#runs.get(uid) === run) this.#runs.delete(uid);
    }
  }

  /** Resolves when the run ends without a stop. */
  async ended(uid: string): Promise<void> {
    await this.#runs.get(uid)?.done;
  }

  /** Stops a run and resolves when it ended. */
  async stop(uid: string): Promise<void> {
    const run = this.#runs.get(uid);
    run?.abort.abort();
    await run?.done;
  }

  /** Stops all runs, including those that are started later. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#runs.keys()].map(async (uid) => await this.stop(uid)));
  }
}

type RunKind = 'probe' | 'download';
