/** Event as received by a client of the stream. */
export interface StreamEvent {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

export interface EventStream extends AsyncDisposable {
  readonly status: number;
  readonly headers: Headers;
  /** Last id set by an event or by an id line. */
  readonly lastId: string;
  /** Comments received so far. */
  readonly comments: readonly string[];
  /** Returns the next event; undefined when the host ended the stream. */
  next(): Promise<StreamEvent | undefined>;
}

/**
 * Reads `GET /api/events` according to the HTML standard; resolves when the response starts and its first lines are
 * read.
 */
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

  const parseBlock = (block: string): void => {
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
  const readChunk = async (): Promise<boolean> => {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) return false;
    const blocks = (pending + chunk.value).split('\n\n');
    pending = blocks.pop() ?? '';
    blocks.forEach(parseBlock);
    return true;
  };

  if (response.ok) await readChunk();
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
        if (!(await readChunk())) return undefined;
      }
    },
    [Symbol.asyncDispose]() {
      abort.abort();
      return Promise.resolve();
    },
  };
}
