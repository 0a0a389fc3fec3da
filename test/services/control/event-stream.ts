/** One event as a client of the stream sees it. */
export interface StreamEvent {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

export interface EventStream extends AsyncDisposable {
  readonly status: number;
  readonly headers: Headers;
  /** The id that was set last, by an event or alone. */
  readonly lastId: string;
  /** Comments so far. */
  readonly comments: readonly string[];
  /** The next event; undefined when the host ended the stream. */
  next(): Promise<StreamEvent | undefined>;
}

/** Reads `GET /api/events` as the HTML standard says, from the outside; resolves when the answer begins and its first lines are read. */
export async function openEvents(
  url: string,
  options: { readonly headers?: Readonly<Record<string, string>>; readonly lastId?: string } = {},
): Promise<EventStream> {
  const abort = new AbortController();
  const response = await fetch(`${url}/api/events`, {
    signal: abort.signal,
    headers: { ...options.headers, ...(options.lastId === undefined ? {} : { 'Last-Event-ID': options.lastId }) },
  });
  const comments: string[] = [];
  const ready: StreamEvent[] = [];
  let lastId = '';
  let pending = '';
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();

  const take = (block: string): void => {
    const fields: Record<string, string> = {};
    for (const line of block.split('\n')) {
      const colon = line.indexOf(':');
      if (colon === 0) comments.push(line.slice(1).trim());
      else if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, '');
    }
    lastId = fields['id'] ?? lastId;
    if (fields['data'] === undefined) return;
    ready.push({ id: lastId, event: fields['event'] ?? 'message', data: JSON.parse(fields['data']) as unknown });
  };
  const read = async (): Promise<boolean> => {
    const part = await reader?.read();
    if (part === undefined || part.done) return false;
    const blocks = (pending + part.value).split('\n\n');
    pending = blocks.pop() ?? '';
    blocks.forEach(take);
    return true;
  };

  if (response.ok) await read();
  return {
    status: response.status,
    headers: response.headers,
    get lastId() {
      return lastId;
    },
    comments,
    async next() {
      for (;;) {
        const event = ready.shift();
        if (event !== undefined) return event;
        if (!(await read())) return undefined;
      }
    },
    [Symbol.asyncDispose]() {
      abort.abort();
      return Promise.resolve();
    },
  };
}
