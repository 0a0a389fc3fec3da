import { Readable } from 'node:stream';
import { Problem } from '../../contracts/problem.ts';
import type { FetchReply } from '../../contracts/outgoing.ts';
import type { Context } from '../../contracts/service.ts';
import { isFetchable, isNamedHost, type AddressLists } from './address-lists.ts';
import type { AttachmentFolder, StoredFile } from './folder.ts';
import { maxNameLength } from './file-name.ts';
import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';

/** Attachment as a call names it: its bytes in base64, or an address to fetch it from. */
export type AttachmentSource =
  | { readonly base64: string; readonly name: string; readonly type: string }
  | { readonly url: string; readonly name: string };

/** Limits of the settings. */
export interface AttachmentLimits extends AddressLists {
  /** 0 means unlimited. */
  readonly maxAttachments: number;
  readonly attachmentBytes: number;
  /** Hosts in a private network that files may be fetched from. */
  readonly attachmentHosts: readonly string[];
}

/** Maximum size of a fetched file, which is held in memory until it is written. */
const maxFetchedBytes = 25 * 1024 * 1024;
const timeoutMs = 15_000;

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function parseSource(value: unknown): AttachmentSource | undefined {
  if (typeof value === 'string') {
    return /^https?:\/\//i.test(value.trim()) ? { url: value.trim(), name: '' } : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { base64, filename, mimetype, url } = value as Readonly<Record<string, unknown>>;
  if (typeof base64 === 'string') return { base64, name: toText(filename), type: toText(mimetype) };
  const source = parseSource(toText(url));
  return source === undefined ? undefined : { ...source, name: toText(filename) };
}

/** Parses the files of a field. Returns undefined if one of them is not supported, such as a path on this computer. */
export function parseSources(value: unknown): readonly AttachmentSource[] | undefined {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const sources = items.map(parseSource);
  return sources.every((source) => source !== undefined) ? sources : undefined;
}

/** Returns the name of a fetched file: from the parameter `name` of the address, the response header, or the path. */
function getFileName(url: URL, reply: FetchReply): string {
  const disposition = /filename="?([^";]+)"?/i.exec(reply.headers['content-disposition'] ?? '')?.[1];
  const lastSegment = url.pathname.split('/').at(-1) ?? '';
  return url.searchParams.get('name') ?? disposition ?? decodePercentEncoding(lastSegment) ?? lastSegment;
}

/**
 * Stores files. Returns undefined, and stores nothing, if one cannot be stored: refused, too large, invalid name, or
 * not found.
 *
 * @throws Problem `notify.no_room` (507)
 */
export async function storeSources(
  context: Pick<Context, 'fetch' | 'log'>,
  folder: AttachmentFolder,
  sources: readonly AttachmentSource[],
  limits: AttachmentLimits,
): Promise<readonly StoredFile[] | undefined> {
  const storedFiles: StoredFile[] = [];
  const discardAll = async (): Promise<undefined> => {
    await folder.remove(storedFiles.map(({ file }) => file));
    return undefined;
  };
  for (const [index, source] of sources.entries()) {
    const content =
      'url' in source
        ? await fetchFile(context, source.url, limits)
        : { bytes: decodeBase64(source.base64), name: '', type: source.type };
    if (content === undefined) return discardAll();
    const name = source.name === '' ? content.name : source.name;
    if (name.length > maxNameLength) return discardAll();
    const written = await folder
      .write(Readable.from([content.bytes]), { name, type: content.type, index }, limits.attachmentBytes)
      .catch(async (error: unknown) => {
        await discardAll();
        throw error;
      });
    if (written === undefined) return discardAll();
    storedFiles.push(written);
  }
  return storedFiles;
}

/** Ignores characters that are not base64, as Apprise API does. */
function decodeBase64(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}

async function fetchFile(
  { fetch, log }: Pick<Context, 'fetch' | 'log'>,
  address: string,
  limits: AttachmentLimits,
): Promise<{ readonly bytes: Uint8Array; readonly name: string; readonly type: string } | undefined> {
  const url = URL.parse(address);
  if (url === null) return undefined;
  const { attachmentHosts, attachmentBytes } = limits;
  if (!isFetchable(url, limits)) {
    log.warn('attachment fetch refused', { host: url.host });
    return undefined;
  }
  const isListedHost = attachmentHosts.some(
    (host) => host.toLowerCase() === url.hostname || host.toLowerCase() === url.host,
  );
  try {
    const reply = await fetch(address, {
      timeoutMs,
      maxBytes: Math.min(maxFetchedBytes, attachmentBytes),
      trust: isListedHost || isNamedHost(url, limits) ? 'owner' : 'other',
    });
    const finalUrl = URL.parse(reply.url);
    if (reply.status < 200 || reply.status > 299 || finalUrl === null || !isFetchable(finalUrl, limits))
      return undefined;
    return { bytes: reply.body, name: getFileName(url, reply), type: reply.headers['content-type'] ?? '' };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    log.warn('attachment fetch failed', { host: url.host, reason: error.code });
    return undefined;
  }
}
