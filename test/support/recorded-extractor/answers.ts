import { STATUS_CODES } from 'node:http';
import { basename, extname } from 'node:path';
import { ExtractorError } from './download.ts';

/** Fields of yt-dlp's answer for a single video that the service and its commands read. */
export interface VideoAnswer {
  readonly _type: 'video';
  readonly id: string;
  readonly title: string;
  readonly ext: string;
  readonly format_id: string;
  readonly url: string;
  readonly webpage_url: string;
  readonly thumbnail?: string;
}

/** Answer for a feed, whose entries yt-dlp does not open. */
export interface PlaylistAnswer {
  readonly _type: 'playlist';
  readonly id: string;
  readonly title: string;
  readonly entries: readonly {
    readonly _type: 'url_transparent';
    readonly url: string;
    readonly title: string;
    readonly thumbnail: string | null;
  }[];
}

export type Answer = VideoAnswer | PlaylistAnswer;

/**
 * Returns what yt-dlp's generic extractor finds at an address of the fixture site: a media file, a page with OpenGraph
 * properties, or a feed. `recorded-extractor.test.ts` compares all of them with yt-dlp.
 * @throws ExtractorError with yt-dlp's message
 */
export async function findAnswer(url: string): Promise<Answer> {
  const { username, password, pathname, origin, search } = new URL(url);
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const headers = username === '' ? {} : { authorization: `Basic ${login}` };
  const page = await fetch(`${origin}${pathname}${search}`, { headers });
  const name = basename(pathname);
  const id = name.slice(0, name.length - extname(name).length);
  if (!page.ok) {
    await page.body?.cancel();
    const reason = `${page.status}: ${STATUS_CODES[page.status] ?? ''}`;
    throw new ExtractorError(
      `[generic] ${id}: Unable to download webpage: HTTP Error ${reason} (caused by <HTTPError ${reason}>)`,
    );
  }
  const type = page.headers.get('content-type') ?? '';
  if (type.startsWith('video/')) {
    await page.body?.cancel();
    const ext = extname(name).slice(1);
    return { _type: 'video', id, title: id, ext, format_id: ext, url, webpage_url: url };
  }
  const text = await page.text();
  if (type.includes('rss')) return readFeed(url, text);
  return readOpenGraph(url, text);
}

function readFeed(url: string, text: string): PlaylistAnswer {
  const [head = '', ...items] = text.split('<item>');
  const entries = items.map((item) => ({
    _type: 'url_transparent' as const,
    url: find(item, /<enclosure url="([^"]*)"/),
    title: find(item, /<title>([^<]*)</),
    thumbnail: find(item, /<itunes:image href="([^"]*)"/) || null,
  }));
  return { _type: 'playlist', id: url, title: find(head, /<title>([^<]*)</), entries };
}

function readOpenGraph(url: string, text: string): VideoAnswer {
  const getProperty = (name: string): string =>
    find(text, new RegExp(`<meta property="og:${name}" content="([^"]*)">`));
  const source = getProperty('video');
  if (source === '') throw new ExtractorError(`Unsupported URL: ${url}`);
  const name = basename(new URL(source).pathname);
  const ext = extname(name).slice(1);
  const id = name.slice(0, name.length - ext.length - 1);
  const video = { _type: 'video', id, title: getProperty('title'), ext, format_id: '0' } as const;
  return { ...video, url: source, webpage_url: url, thumbnail: getProperty('image') };
}

function find(text: string, pattern: RegExp): string {
  const escaped = pattern.exec(text)?.[1] ?? '';
  return escaped.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
}
