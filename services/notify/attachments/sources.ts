import { Readable } from 'node:stream';
import { Problem } from '../../contracts/problem.ts';
import type { FetchReply } from '../../contracts/outgoing.ts';
import type { Context } from '../../contracts/service.ts';
import { isFetchable, isNamed, type AddressLists } from './address-lists.ts';
import type { AttachmentFolder, StoredFile } from './folder.ts';
import { longestName } from './file-name.ts';

/** A file as a call names it: its bytes in base64, or a web address to fetch it from. */
export type AttachmentSource =
  | { readonly base64: string; readonly name: string; readonly type: string }
  | { readonly url: string; readonly name: string };

/** What is allowed, by the settings. */
export interface AttachmentLimits extends AddressLists {
  /** 0: any number. */
  readonly maxAttachments: number;
  readonly attachmentBytes: number;
  /** Hosts in the owner's own network that files may be fetched from. */
  readonly attachmentHosts: readonly string[];
}

/** A fetched file is held in memory until it is written. */
const mostFetched = 25 * 1024 * 1024;
const patienceMs = 15_000;

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function sourceOf(value: unknown): AttachmentSource | undefined {
  if (typeof value === 'string') {
    return /^https?:\/\//i.test(value.trim()) ? { url: value.trim(), name: '' } : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { base64, filename, mimetype, url } = value as Readonly<Record<string, unknown>>;
  if (typeof base64 === 'string') return { base64, name: text(filename), type: text(mimetype) };
  const source = sourceOf(text(url));
  return source === undefined ? undefined : { ...source, name: text(filename) };
}

/** The files a field names; undefined when one of them is no file we take, such as a path of this machine. */
export function readSources(value: unknown): readonly AttachmentSource[] | undefined {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const sources = items.map(sourceOf);
  return sources.every((source) => source !== undefined) ? sources : undefined;
}

/** The name an answer gives its file: as the address asks (`?name=`), as its header says, or the end of its path. */
function nameOf(url: URL, reply: FetchReply): string {
  const disposition = /filename="?([^";]+)"?/i.exec(reply.headers['content-disposition'] ?? '')?.[1];
  return url.searchParams.get('name') ?? disposition ?? decoded(url.pathname.split('/').at(-1) ?? '');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}

/**
 * Puts files into the folder. Undefined, with nothing kept, when one cannot be had: refused, too large, badly named, or not
 * there. @throws Problem `notify.no_room` (507)
 */
export async function storeSources(
  context: Pick<Context, 'fetch' | 'log'>,
  folder: AttachmentFolder,
  sources: readonly AttachmentSource[],
  limits: AttachmentLimits,
): Promise<readonly StoredFile[] | undefined> {
  const stored: StoredFile[] = [];
  const refuse = async (): Promise<undefined> => {
    await folder.remove(stored.map(({ file }) => file));
    return undefined;
  };
  for (const [place, source] of sources.entries()) {
    const given =
      'url' in source
        ? await fetched(context, source.url, limits)
        : { bytes: decode(source.base64), name: '', type: source.type };
    if (given === undefined) return refuse();
    const name = source.name === '' ? given.name : source.name;
    if (name.length > longestName) return refuse();
    const written = await folder
      .write(Readable.from([given.bytes]), { name, type: given.type, place }, limits.attachmentBytes)
      .catch(async (error: unknown) => {
        await refuse();
        throw error;
      });
    if (written === undefined) return refuse();
    stored.push(written);
  }
  return stored;
}

/** Characters that are no base64 are passed over, as the peer does. */
function decode(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}

async function fetched(
  { fetch, log }: Pick<Context, 'fetch' | 'log'>,
  address: string,
  limits: AttachmentLimits,
): Promise<{ readonly bytes: Uint8Array; readonly name: string; readonly type: string } | undefined> {
  const url = URL.parse(address);
  if (url === null) return undefined;
  const { attachmentHosts, attachmentBytes } = limits;
  if (!isFetchable(url, limits)) {
    log.warn('an attachment is not to be fetched from there', { host: url.host });
    return undefined;
  }
  const listed = attachmentHosts.some((host) => host.toLowerCase() === url.hostname || host.toLowerCase() === url.host);
  try {
    const reply = await fetch(address, {
      timeoutMs: patienceMs,
      maxBytes: Math.min(mostFetched, attachmentBytes),
      trust: listed || isNamed(url, limits) ? 'owner' : 'other',
    });
    const end = URL.parse(reply.url);
    if (reply.status < 200 || reply.status > 299 || end === null || !isFetchable(end, limits)) return undefined;
    return { bytes: reply.body, name: nameOf(url, reply), type: reply.headers['content-type'] ?? '' };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    log.warn('an attachment could not be fetched', { host: url.host, reason: error.code });
    return undefined;
  }
}
