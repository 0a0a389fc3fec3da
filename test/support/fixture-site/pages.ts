import { heights } from './recipe.ts';

/** HTML and feeds of the fixture site; `query` can set title and source, so that one page serves many tests. */
export function page(path: string, query: URLSearchParams, base: string): { type: string; body: string } | undefined {
  const feed = /^\/feed\/(\d+)\.rss$/.exec(path)?.[1];
  if (feed !== undefined)
    return { type: 'application/rss+xml', body: rss(Number(feed), query.get('title') ?? 'Feed', base) };
  const make = pages[path];
  if (make === undefined) return undefined;
  const title = query.get('title');
  const source = `${base}${query.get('src') ?? '/single.mp4'}`;
  return { type: 'text/html; charset=utf-8', body: make(title, source, base, query.get('image') ?? '/cover.jpg') };
}

type Page = (title: string | null, source: string, base: string, image: string) => string;

const pages: Readonly<Record<string, Page>> = {
  '/p/none': () => html('Nothing', '<p>No video here.</p>'),
  '/p/og': (title, source, base, image) => openGraph(title ?? 'Og clip', source, base, image),
  '/p/evil': (_title, source, base) => openGraph('../../x', source, base),
  '/p/cjk': (_title, source, base) => openGraph('字'.repeat(300), source, base),
  '/p/quotes': (_title, source, base) => openGraph('It\'s "quoted" $HOME %(id)s 🎬 `id`', source, base),
  '/p/html5': (title, source) =>
    html(title ?? 'Html5 clip', `<video><source src="${escape(source)}" type="video/mp4"></video>`),
  '/p/cookie': (title, source) =>
    html(title ?? 'Members clip', `<video><source src="${escape(source)}" type="video/mp4"></video>`),
  '/p/hls': (title, _source, base) =>
    html(title ?? 'Hls clip', `<video><source src="${base}/hls/master.m3u8" type="application/x-mpegURL"></video>`),
  '/p/ladder': (title, _source, base) => {
    const sources = heights.map((height) => {
      const file = height === 360 ? 'single' : `ladder${height}`;
      return `<source src="${base}/${file}.mp4" type="video/mp4" res="${height}" label="${height}p">`;
    });
    return html(title ?? 'Ladder clip', `<video>${sources.join('')}</video>`);
  },
  // Metadata in separate parts of the title.
  '/p/chapters': (title, _source, base) =>
    linkedData({
      '@type': 'VideoObject',
      name: title ?? 'In chapters',
      uploadDate: '2026-01-02',
      duration: 'PT6S',
      contentUrl: `${base}/chapters.mp4`,
      thumbnailUrl: `${base}/cover.jpg`,
      author: { '@type': 'Person', name: 'Ada' },
      hasPart: [
        { '@type': 'Clip', name: 'Intro', startOffset: 0, endOffset: 2 },
        { '@type': 'Clip', name: 'Body: one/two', startOffset: 2, endOffset: 4 },
        { '@type': 'Clip', name: 'End', startOffset: 4, endOffset: 6 },
      ],
    }),
  '/p/ladder-short': (title, _source, base) => {
    const sources = heights.map(
      (height) => `<source src="${base}/short/${height}.mp4" type="video/mp4" res="${height}" label="${height}p">`,
    );
    return html(title ?? 'Short ladder', `<video>${sources.join('')}</video>`);
  },
  '/p/multi': (title, _source, base) => {
    const videos = ['single.mp4', 'vp9.webm', 'big.mp4'].map((file) => `<video src="${base}/${file}"></video>`);
    return html(title ?? 'Three clips', videos.join(''));
  },
};

function linkedData(content: object): string {
  const script = JSON.stringify({ '@context': 'https://schema.org', ...content });
  return html('Linked data', '', `<script type="application/ld+json">${script}</script>`);
}

function openGraph(title: string, source: string, base: string, image = '/cover.jpg'): string {
  const properties = {
    'og:title': title,
    'og:type': 'video.other',
    'og:video': source,
    'og:image': `${base}${image}`,
  };
  const meta = Object.entries(properties).map(
    ([name, value]) => `<meta property="${name}" content="${escape(value)}">`,
  );
  return html(title, '', meta.join(''));
}

function html(title: string, body: string, head = ''): string {
  return `<!doctype html><html><head><title>${escape(title)}</title>${head}</head><body>${body}</body></html>`;
}

function rss(count: number, title: string, base: string): string {
  const numbers = Array.from({ length: count }, (_, index) => String(index + 1).padStart(3, '0'));
  const items = numbers.map((number) => ({ title: `Episode ${number}`, source: `${base}/single.mp4?item=${number}` }));
  return buildRss(title, items, base);
}

/** Builds a feed of these titles. The address of an item follows from its title; all items share one thumbnail. */
export function channel(title: string, titles: readonly string[], base: string, image: string | null): string {
  const items = titles.map((entry) => ({
    title: entry,
    source: `${base}/single.mp4?item=${encodeURIComponent(entry)}`,
  }));
  return buildRss(title, items, base, image);
}

function buildRss(
  title: string,
  items: readonly { title: string; source: string }[],
  base: string,
  image: string | null = null,
): string {
  const picture = image === null ? '' : `<itunes:image href="${escape(new URL(image, base).href)}"/>`;
  const parts = items.map(({ title: name, source }) => {
    const enclosure = `<enclosure url="${escape(source)}" type="video/mp4" length="1"/>`;
    return `<item><title>${escape(name)}</title>${enclosure}${picture}</item>`;
  });
  const content = `<title>${escape(title)}</title><link>${base}</link><description>d</description>${parts.join('')}`;
  return (
    '<?xml version="1.0"?><rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/' +
    `podcast-1.0.dtd"><channel>${content}</channel></rss>`
  );
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
