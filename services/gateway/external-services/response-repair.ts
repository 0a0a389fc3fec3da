import type { Duplex } from 'node:stream';

/** Longer heads are passed on unchanged; the parser rejects them. */
const maxHeadBytes = 80 * 1024;

const protocol = 'HTTP/1.';

/** Repairs the response heads of one connection, with one expected response at a time. */
export interface AnswerRepair {
  /** Expects the next response head. */
  expectHead(): void;
}

/**
 * Repairs response heads before they are parsed, as RFC 9112 permits for proxies: white space before the colon of a
 * field is removed (5.1), and equal `Content-Length` fields are merged (6.3). Everything else is unchanged.
 */
export function repairAnswers(socket: Duplex): AnswerRepair {
  const push = socket.push.bind(socket);
  let held: Buffer | undefined = Buffer.alloc(0);
  const take = (chunk: Buffer): boolean => {
    if (held === undefined) return push(chunk);
    held = Buffer.concat([held, chunk]);
    // Other data is not HTTP, which the parser reports.
    const begin = held.toString('latin1', 0, protocol.length);
    if (!protocol.startsWith(begin)) return release(held);
    const end = findHeadEnd(held);
    if (end < 0) {
      if (held.length <= maxHeadBytes) return true;
      return release(held);
    }
    const head = held.toString('latin1', 0, end);
    const rest = held.subarray(end);
    const isInterim = /^HTTP\/1\.[01] 1(?!01)/.test(head);
    const isMore = push(Buffer.from(repairHead(head), 'latin1'));
    if (!isInterim) return rest.length === 0 ? release(undefined, isMore) : release(rest);
    held = Buffer.alloc(0);
    return rest.length === 0 ? isMore : take(rest);
  };
  const release = (bytes: Buffer | undefined, isMore = true): boolean => {
    held = undefined;
    return bytes === undefined ? isMore : push(bytes);
  };
  socket.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (Buffer.isBuffer(chunk)) return take(chunk);
    if (held !== undefined && held.length > 0) release(held);
    return push(chunk, encoding);
  };
  return { expectHead: () => void (held ??= Buffer.alloc(0)) };
}

/** Returns the end of a head after its empty line; -1 while it is incomplete. */
function findHeadEnd(bytes: Buffer): number {
  const ends = ['\r\n\r\n', '\n\n', '\n\r\n'].flatMap((mark) => {
    const index = bytes.indexOf(mark);
    return index < 0 ? [] : [index + mark.length];
  });
  return ends.length === 0 ? -1 : Math.min(...ends);
}

function repairHead(head: string): string {
  const lines = head.split('\n').map((line) => line.replace(/^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]+:/, '$1:'));
  const isLength = (line: string): boolean => /^content-length:/i.test(line);
  const lengths = lines.filter(isLength).flatMap((line) => line.slice(line.indexOf(':') + 1).split(','));
  const [first = '', ...others] = lengths.map((length) => length.trim());
  if (others.length === 0 || !/^\d+$/.test(first) || others.some((length) => length !== first)) return lines.join('\n');
  const place = lines.findIndex(isLength);
  const kept = lines.filter((line, index) => index === place || !isLength(line));
  const end = (lines[place] ?? '').endsWith('\r') ? '\r' : '';
  return kept.map((line) => (isLength(line) ? `Content-Length: ${first}${end}` : line)).join('\n');
}
