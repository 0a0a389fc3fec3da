import type { PageStatus } from '../../contracts/uptime/page-status.ts';
import type { PublicNote } from '../../contracts/uptime/status-pages.ts';
import { peerTime } from '../domain/time-format.ts';
import type { KnownPage } from '../store/status-pages.ts';
import type { Watched } from '../monitoring/monitor-state.ts';

const words: Readonly<Record<PageStatus, string>> = {
  maintenance: 'Under maintenance',
  up: 'All Systems Operational',
  partial: 'Partially Degraded Service',
  down: 'Degraded Service',
  none: 'No Services',
};

export interface Feed {
  readonly page: KnownPage;
  readonly link: string;
  readonly notes: readonly PublicNote[];
  readonly down: readonly Watched[];
  readonly status: PageStatus;
  readonly now: number;
}

/** Builds the RSS 2.0 feed of a page: its notes, and the monitors that are down. */
export function feedOf({ page, link, notes, down, status, now }: Feed): string {
  const { config } = page;
  const items = [
    ...notes.map((note) => ({
      title: note.title,
      text: note.content,
      id: `i${String(note.id)}-${note.createdDate}`,
      at: Date.parse(`${note.createdDate.replace(' ', 'T')}Z`),
    })),
    ...down.map(({ id, config: { name }, standing }) => {
      // A pause or maintenance during an outage keeps the item, so that readers do not show it again.
      const at = standing.downSince ?? standing.since ?? now;
      return {
        title: `${name} is down`,
        text: `${name} has been down since ${peerTime(at).slice(0, 19)} UTC`,
        id: `m${String(id)}-${peerTime(at)}`,
        at,
      };
    }),
  ];
  const title = config.rssTitle || `${config.title} RSS Feed`;
  return `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0">
    <channel>
        <title>${escaped(title)}</title>
        <link>${escaped(link)}</link>
        <description>Current status: ${words[status]}</description>
        <lastBuildDate>${new Date(now).toUTCString()}</lastBuildDate>
        <docs>https://validator.w3.org/feed/docs/rss2.html</docs>
        <generator>Homeport</generator>
        <language>en</language>${items.map((item) => itemText(item, link)).join('')}
    </channel>
</rss>`;
}

function itemText(item: { title: string; text: string; id: string; at: number }, link: string): string {
  return `
        <item>
            <title>${data(item.title)}</title>
            <link>${escaped(link)}</link>
            <guid isPermaLink="false">${escaped(item.id)}</guid>
            <pubDate>${new Date(item.at).toUTCString()}</pubDate>
            <description>${data(item.text)}</description>
        </item>`;
}

function data(text: string): string {
  return `<![CDATA[${clean(text).replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
}

function escaped(text: string): string {
  return clean(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Removes characters that XML does not permit. */
function clean(text: string): string {
  return [...text.toWellFormed()].filter((one) => one >= ' ' || one === '\n' || one === '\t').join('');
}
